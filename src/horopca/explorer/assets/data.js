// The payload: base64 of a zlib stream of [length of the header, header in JSON, arrays], each array byte plane by byte plane.

const TYPES = { f8: Float64Array, f4: Float32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };

function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function unpacked(element) {
  const bytes = bytesOf(element.textContent.trim());
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
  data.radius = radiiOf(data);
  data.first = data.points; // where the page started, whatever is refitted
  data.time = data.last = (data.titles || [""]).length - 1;
  data.labelings.forEach((labeling, k) => { labeling.codes = data[`codes-${k}`]; });
  return data;
}

const radiiOf = (data) => data.points.r.map((r) => Math.asinh(r) * data.unit);
const nameOf = (data, i) => (data.names && data.names[i]) || `point ${i}`;
const labelsOf = (data, i) => data.labelings.map(({ name, classes, codes }) => [name, classes[codes[i]]]);

const HERE = 10; // neighbours that are looked for in the picture

/** The neighbours of a point in the picture, and (where the page knows it) in the original space: lists of [index, distance]. */
function neighboursOf(data, i, shown) {
  const known = data.neighbours && ofOriginal(data) ? new Set() : null, k = known ? Math.min(HERE, data.k) : 8;
  const here = nearest(data.points, i, k, shown).map(([j, d]) => [j, d * data.unit]), there = [];
  if (!known) return { here, there: null, strangers: new Set() };
  for (let m = i * data.k; m < (i + 1) * data.k; m++) {
    known.add(data.neighbours[m]);
    if (shown[data.neighbours[m]]) there.push([data.neighbours[m], data.spans[m]]);
  }
  return { here, there, strangers: new Set(here.map(([j]) => j).filter((j) => !known.has(j))) };
}

// ---------------------------------------------------------------- search

const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** All that is written about a point, its name first. */
const textsOf = (data, i) => [nameOf(data, i), ...labelsOf(data, i).map(([, text]) => text),
  ...(data.details || []).map(({ texts }) => texts[i])];

/** Points that hold the text: in the name (whole, at its beginning, at that of a word, anywhere), then in any other text. */
function searchTexts(data, text) {
  const wanted = folded(text.trim());
  if (!wanted) return [];
  if (!data.folded) data.folded = Array.from({ length: data.n }, (_, i) => textsOf(data, i).map(folded));
  const found = [];
  data.folded.forEach(([name, ...others], i) => {
    const at = name.indexOf(wanted), start = at === 0 || /[\s_\-.,/(]/.test(name[at - 1] || "");
    if (at < 0) { if (others.some((other) => other.includes(wanted))) found.push([i, 4, name.length]); return; }
    found.push([i, name === wanted ? 0 : at === 0 ? 1 : start ? 2 : 3, name.length]);
  });
  return found.sort((a, b) => a[1] - b[1] || a[2] - b[2] || a[0] - b[0]).map(([i]) => i);
}
