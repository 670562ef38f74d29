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

/** An array from its byte planes: the first bytes of all elements, then their second bytes, ... */
function fromPlanes(bytes, Type, length) {
  const width = Type.BYTES_PER_ELEMENT, out = new Uint8Array(length * width);
  for (let plane = 0; plane < width; plane++) {
    for (let i = 0, at = plane * length; i < length; i++) out[i * width + plane] = bytes[at + i];
  }
  return new Type(out.buffer);
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
  data.edgeCount = data.edges ? data.edges.length / 2 : 0; // `edges` has all first ends and then all second ones
  data.ends = [data.edges?.subarray(0, data.edgeCount), data.edges?.subarray(data.edgeCount)];
  data.points = polarPoints(data.x, data.y);
  data.n = data.points.n;
  data.pane = data.layout === "side" ? paneNumber() : null;
  data.title = data.pane === null ? document.title : data.titles[data.pane];
  data.radius = radiiOf(data);
  data.first = data.points; // the picture that the page starts with
  data.time = data.last = (data.titles || [""]).length - 1;
  data.labelings.forEach((labeling, k) => { labeling.codes = data[`codes-${k}`]; });
  if (data.columns) data.columns.forEach((column, k) => { column.values = data[`column-${k}`]; });
  return data;
}

const radiiOf = (data) => data.points.r.map((r) => Math.asinh(r) * data.unit);
const nameOf = (data, i) => (data.names && data.names[i]) || `point ${i}`;
const labelsOf = (data, i) => data.labelings.map(({ name, classes, codes }) => [name, classes[codes[i]]]);

/** Distance of two points in the picture, in the user's unit. */
const distanceHere = (data, i, j) => distance(pointAt(data.points, i), pointAt(data.points, j)) * data.unit;

/** The same, in the unit of the original, which for a graph is the length of its edges. */
const distanceAsBefore = (data, i, j) => distanceHere(data, i, j) / (data.graph_scale || 1);

/** Neighbours of a point in the picture and in the original (null if unknown), as lists of [row, distance], and which were
 * added and lost. They are taken from all points, hidden or not, by the rule of horopca.metrics; `measured`: whether the
 * picture is the one that was compared with the original. */
function neighboursOf(data, i, measured) {
  const known = data.there && ofOriginal(data), k = data.k, at = known ? i * k : 0;
  const marked = (bits, list) => new Set(known && measured ? list.filter((_, m) => (data[bits][i] >> m) & 1) : []);
  const here = known && measured && data.here ? Array.from(data.here.subarray(at, at + k)) : nearest(data.points, i, known ? k : 8);
  const there = known ? Array.from(data.there.subarray(at, at + k)) : [];
  const lost = marked("missing", there), spans = there.map((j, m) => [j, data.spans[at + m]]);
  return { here: here.map((j) => [j, distanceHere(data, i, j)]), added: marked("added", here), lost,
    there: known ? spans.filter(([, d]) => Number.isFinite(d)) : null }; // infinite: in another component of the graph
}


const ASCII = /^[\x00-\x7f]*$/;
const folded = (text) => (ASCII.test(text) ? text : text.normalize("NFKD").replace(/\p{M}/gu, "")).toLowerCase();

/** Texts prepared for searching, once: names and details of points, and every class once instead of once for each point. */
function searchIndex(data) {
  return data.index ??= {
    names: Array.from({ length: data.n }, (_, i) => folded(nameOf(data, i))),
    classes: data.labelings.map(({ classes }) => classes.map(folded)),
    details: (data.details || []).map(({ texts }) => texts.map(folded)),
  };
}

/** A regular expression if the text is written as one, /like this/; null otherwise. Raises SyntaxError if it is none. */
const expressionIn = (text) => { const found = /^\/(.+)\/$/.exec(text.trim()); return found ? new RegExp(found[1], "iu") : null; };

const SORTED = 20000; // results up to which shorter names come first

/** Points that contain the text: in the name (whole, at its beginning, at that of a word, anywhere), then in any other text. */
function searchTexts(data, text) {
  const wanted = folded(text.trim()), pattern = expressionIn(text), ranks = [[], [], [], [], []];
  if (!wanted) return [];
  const { names, classes, details } = searchIndex(data), codes = data.labelings.map((labeling) => labeling.codes);
  const matches = pattern ? (other) => pattern.test(other) : (other) => other.includes(wanted);
  const hits = classes.map((texts) => texts.map(matches));
  for (let i = 0; i < data.n; i++) {
    const name = names[i], at = pattern ? name.search(pattern) : name.indexOf(wanted);
    if (at < 0) { if (hits.some((hit, k) => hit[codes[k][i]]) || details.some((texts) => matches(texts[i]))) ranks[4].push(i); }
    else ranks[name === wanted ? 0 : at === 0 ? 1 : /[\s_\-.,/(]/.test(name[at - 1]) ? 2 : 3].push(i);
  }
  const shorter = (a, b) => names[a].length - names[b].length || a - b;
  return ranks.flatMap((rows) => (rows.length <= SORTED ? rows.sort(shorter) : rows));
}
