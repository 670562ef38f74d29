// The payload: base64 of a zlib stream of [length of the header, header in JSON, arrays], each array byte plane by byte plane.

const TYPES = { f8: Float64Array, f4: Float32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };

function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function unpacked(element) {
  const bytes = bytesOf(element.textContent.trim()), size = Number(element.dataset.size);
  if (typeof DecompressionStream === "undefined") return inflate(bytes, size);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** An array whose bytes were written all first ones, then all second ones, ... */
function fromPlanes(bytes, Type, length) {
  const width = Type.BYTES_PER_ELEMENT, out = new Uint8Array(length * width);
  for (let plane = 0; plane < width; plane++) {
    for (let i = 0, at = plane * length; i < length; i++) out[i * width + plane] = bytes[at + i];
  }
  return new Type(out.buffer);
}

/** The first ends of all edges and then the second ones, as pairs. */
function pairsOf(columns) {
  const m = columns.length / 2, pairs = new Uint32Array(2 * m);
  for (let e = 0; e < m; e++) [pairs[2 * e], pairs[2 * e + 1]] = [columns[e], columns[m + e]];
  return pairs;
}

async function readData(element) {
  const bytes = await unpacked(element);
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const data = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  let at = 4 + size;
  for (const { name, type, length } of data.arrays) {
    const Type = TYPES[type], end = at + length * Type.BYTES_PER_ELEMENT;
    data[name] = fromPlanes(bytes.subarray(at, end), Type, length);
    at = end;
  }
  if (data.edges) data.edges = pairsOf(data.edges);
  data.points = polarPoints(data.x, data.y);
  data.n = data.points.n;
  data.title = document.title;
  data.radius = data.points.r.map((r) => Math.asinh(r) * data.unit);
  return data;
}

const nameOf = (data, i) => (data.names && data.names[i]) || `point ${i}`;

/** The neighbours of a point, [index, distance], in the original space if the page knows it. */
function neighboursOf(data, i, shown) {
  if (!data.neighbours) return nearest(data.points, i, 8, shown).map(([j, d]) => [j, d * data.unit]);
  const k = data.k, found = [];
  for (let m = i * k; m < (i + 1) * k; m++) {
    if (shown[data.neighbours[m]]) found.push([data.neighbours[m], data.spans[m]]);
  }
  return found;
}

// ---------------------------------------------------------------- search

const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** Points whose name holds the text: whole names first, then beginnings, beginnings of words, the rest; short ones first. */
function searchNames(data, text, most) {
  const wanted = folded(text.trim());
  if (!wanted) return { found: [], total: 0 };
  if (!data.folded) data.folded = Array.from({ length: data.n }, (_, i) => folded(nameOf(data, i)));
  const found = [];
  data.folded.forEach((name, i) => {
    const at = name.indexOf(wanted);
    if (at < 0) return;
    const start = at === 0 || /[\s_\-.,/(]/.test(name[at - 1]);
    found.push([i, name === wanted ? 0 : at === 0 ? 1 : start ? 2 : 3, name.length]);
  });
  found.sort((a, b) => a[1] - b[1] || a[2] - b[2] || a[0] - b[0]);
  return { found: found.slice(0, most).map(([i]) => i), total: found.length };
}
