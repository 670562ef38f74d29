// One frame as plain arrays: where every point falls on the screen, which edges are worth drawing, which names fit.

const MOST_EDGES = 16000, MOST_INK = 500000; // edges in one frame, and their length in pixels: the longest are drawn
const MOST_BRANCHES = 2000; // edges of a tree in one frame, those of the largest subtrees: more hide the points
const FONT = (size, bold) => `${bold ? "600 " : ""}${size}px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif`;
const LONGEST_NAME = 30;

function newScene(data) {
  const { n, edgeCount: m } = data;
  return {
    x: new Float64Array(n), y: new Float64Array(n), // on the hyperboloid of the view
    zx: new Float64Array(n), zy: new Float64Array(n), // in the disk
    left: new Float32Array(n), // the scale there: an upper bound
    px: new Float32Array(n), py: new Float32Array(n), // on the screen, CSS pixels
    size: new Float32Array(n), // radius of the mark, 0 where it is not drawn
    shuffle: shuffled(Uint32Array.from({ length: n }, (_, i) => i), randomNumbers(1)), order: new Uint32Array(n), rank: new Uint32Array(n), // the last is on top; where in this order a row is
    first: 0, // where in it those above begin, who are neither dim nor grey
    marks: new Uint32Array(n), marked: 0, below: 0, ranks: new Uint32Array(n), // the points to draw, and how many
    edges: { count: 0, of: null, stretch: null, ends: new Uint32Array(2 * m), turn: new Float64Array(m), length: new Float32Array(m) },
    edgesInView: 0, rings: [], names: [], thumbs: [], wanted: 0, named: new Set(), weight: weightsOf(data), widths: new Map(), centres: null,
  };
}

/** How important each point is among those near it, 0 to 1: by its subtree, its number of edges, or else a small radius. */
function weightsOf(data) {
  const weight = data.subtrees ? Float32Array.from(data.subtrees) : new Float32Array(data.n);
  if (data.edges) {
    if (!data.subtrees) for (const i of data.edges) weight[i]++;
    const most = weight.reduce((a, b) => Math.max(a, b), 1);
    return weight.map((size) => Math.log1p(size) / Math.log1p(most));
  }
  const far = data.radius.reduce((a, b) => Math.max(a, b), 1e-9);
  return weight.map((_, i) => 1 - data.radius[i] / far);
}

/** Where all points are, seen from the view. `frame`: cx, cy, scale (pixels per unit of the disk), width, height. */
function project(scene, data, view, model, frame, shown) {
  const { x, y, zx, zy, left, px, py, size } = scene, { cx, cy, scale, width, height, reach } = frame, { factor, open } = MODELS[model];
  lookAt(data.points, view, x, y);
  let near = 1;
  for (let i = 0, n = data.n; i < n; i++) {
    const r = lengthOf(x[i], y[i]), t = lengthOf(1, r), z = factor(r, t, reach);
    left[i] = z;
    zx[i] = x[i] * z;
    zy[i] = y[i] * z;
    const u = cx + scale * zx[i], v = cy - scale * zy[i];
    px[i] = u;
    py[i] = v;
    const out = u < -9 || v < -9 || u > width + 9 || v > height + 9 || !shown[i];
    size[i] = out ? 0 : open ? 0.45 : 2 / (1 + t); // the scale here, for now
    if (size[i] > 0.15) near++;
  }
  scene.crowded = Boolean(data.subtrees) && near > MOST_BRANCHES;
  const least = 2.2 * Math.min(1, (1e5 / near) ** 0.25); // of millions, smaller specks
  const grow = Math.min(6.5, Math.max(least, 15 / near ** 0.2)) * Math.min(2, Math.max(1, frame.zoom ** 0.3));
  const ownSize = data.sizes ? (i) => data.sizes[i] : scene.crowded ? (i) => 0.5 + scene.weight[i] : () => 1;
  for (let i = 0; i < data.n; i++) if (size[i] > 0) size[i] = grow * (0.13 + 0.87 * size[i]) * ownSize(i);
}

const RING_STEPS = Array.from({ length: 36 }, (_, k) => [1, 0.5, 0.2][k % 3] * 10 ** (2 - Math.floor(k / 3)));
const RING_ROOM = 32, MOST_RINGS = 16; // pixels between rings at least

/** Rings around the centre at whole distances in the user's unit: radius in pixels, and the distance. */
function ringsOf(data, model, { width, height, scale, reach }) {
  const { ring, open } = MODELS[model], half = Math.hypot(width, height) / 2, far = open ? half : Math.min(half, scale - RING_ROOM / 2);
  for (const step of RING_STEPS) {
    const found = [];
    for (let k = 1, last = 0; k < 60 && found.length < MOST_RINGS; k++) {
      const pixels = scale * ring((k * step) / data.unit, reach);
      if (pixels > far || pixels - last < RING_ROOM) break;
      found.push({ pixels, text: digits(Number((k * step).toPrecision(6))) });
      last = pixels;
    }
    if (found.length >= 3) return found;
  }
  return [];
}

const SPECK = 1.5; // radius of a mark below which one hides another on its pixel

/** The points to draw, in the order of painting: those on the screen, and of specks on one pixel only the topmost. */
function chooseMarks(scene, frame) {
  const { px, py, size, order, rank, ranks, marks } = scene, width = Math.ceil(frame.width) + 20;
  const area = width * (Math.ceil(frame.height) + 20), topmost = new Uint32Array(area);
  let count = 0;
  for (let i = 0, n = px.length; i < n; i++) { // in the order of rows, which lie together in memory
    if (size[i] === 0) continue;
    if (size[i] >= SPECK) { ranks[count++] = rank[i]; continue; }
    const at = (Math.floor(py[i]) + 10) * width + Math.floor(px[i]) + 10;
    if (rank[i] >= topmost[at]) topmost[at] = rank[i] + 1;
  }
  for (let at = 0; at < area; at++) if (topmost[at]) ranks[count++] = topmost[at] - 1;
  ranks.subarray(0, count).sort();
  scene.marked = count;
  for (let k = 0; k < count; k++) marks[k] = order[ranks[k]];
  scene.below = ranks.subarray(0, count).filter((at) => at < scene.first).length;
}

const SHORTEST_EDGE = 1.2; // pixels: shorter ones cannot be seen

/** e^L - 1 of every edge of length L: an upper bound of its length on the screen, relative to the scale at one of its ends. */
function stretchesOf({ ends, points }) {
  return Float32Array.from({ length: ends[0].length }, (_, e) => {
    const half = Math.sqrt(gap(pointAt(points, ends[0][e]), pointAt(points, ends[1][e]))) / 2; // sinh(L / 2)
    return (half + Math.sqrt(1 + half * half)) ** 2 - 1;
  });
}

const MOST_BENDS = 96; // straight pieces of one geodesic

/** The largest distance, in pixels, of a geodesic in a view without a rim from the middle of its chord: at its own middle.
 *
 * It is long where the chord is short, if both ends are far out: the geodesic between them dips towards the centre. */
function dipOf({ x, y, zx, zy }, a, b, { scale, reach, model }) {
  const shrink = 1 / (2 * lengthOf(1, halfGap(x[a], y[a], x[b], y[b]))); // 1 / (2 cosh(d / 2))
  const mx = (x[a] + x[b]) * shrink, my = (y[a] + y[b]) * shrink, r = lengthOf(mx, my);
  const grow = MODELS[model].factor(r, lengthOf(1, r), reach);
  return scale * lengthOf(grow * mx - (zx[a] + zx[b]) / 2, grow * my - (zy[a] + zy[b]) / 2);
}

/** The edges to draw, those too short to see left out. Both ends must be shown. */
function chooseEdges(scene, { data, model, frame, shown, on }) {
  scene.edges.count = scene.edgesInView = 0;
  if (!on.edges) return;
  const { zx, zy, edges, left } = scene, { scale, width, height, cx, cy } = frame, { arcs, open } = MODELS[model];
  if (edges.of !== data.points) [edges.of, edges.stretch] = [data.points, stretchesOf(data)];
  const { stretch } = edges;
  let count = 0, ink = 0;
  for (let e = 0; e < data.edgeCount; e++) {
    const a = data.ends[0][e], b = data.ends[1][e];
    if (!open && scale * left[a] * stretch[e] < SHORTEST_EDGE) continue; // most of them, and without a look at the other end
    if (!shown[a] || !shown[b]) continue;
    const dx = scale * (zx[b] - zx[a]), dy = scale * (zy[b] - zy[a]), chord = Math.sqrt(dx * dx + dy * dy);
    const length = open ? chord + 2 * dipOf(scene, a, b, frame) : chord;
    if (length < SHORTEST_EDGE) continue;
    const mx = cx + (scale * (zx[a] + zx[b])) / 2, my = cy - (scale * (zy[a] + zy[b])) / 2; // the arc is within length of it
    if (mx < -length || my < -length || mx > width + length || my > height + length) continue;
    edges.ends[2 * count] = a;
    edges.ends[2 * count + 1] = b;
    edges.turn[count] = arcs ? halfTurn(zx[a], zy[a], zx[b], zy[b]) : 0;
    edges.length[count++] = length;
    ink += length;
  }
  scene.edgesInView = count;
  const tree = data.subtrees, size = tree && ((e) => Math.min(tree[edges.ends[2 * e]], tree[edges.ends[2 * e + 1]]));
  edges.count = tree && count > MOST_BRANCHES ? keepBest(edges, count, size, MOST_BRANCHES)
    : count > MOST_EDGES || ink > MOST_INK ? keepBest(edges, count, (e) => edges.length[e], MOST_EDGES) : count;
}

/** Keep the edges of the largest sizes, `most` of them or MOST_INK pixels at the most; of those about as large, an even part. */
function keepBest(edges, count, sizeOf, most) {
  const binOf = (e) => Math.min(255, Math.floor(16 * Math.log2(sizeOf(e)))), costs = new Float64Array(256);
  const costOf = (e) => Math.max(1 / most, edges.length[e] / MOST_INK); // the part of what one frame draws
  for (let e = 0; e < count; e++) costs[binOf(e)] += costOf(e);
  let bin = 255, left = 1;
  for (; bin > 0 && costs[bin] <= left; bin--) left -= costs[bin];
  const part = left / Math.max(costs[bin], 1e-9);
  let kept = 0, due = 0;
  for (let e = 0; e < count; e++) {
    const own = binOf(e);
    if (own < bin || (own === bin && (due += part) < 1)) continue;
    if (own === bin) due -= 1;
    edges.ends.copyWithin(2 * kept, 2 * e, 2 * e + 2);
    edges.turn[kept] = edges.turn[e];
    edges.length[kept++] = edges.length[e];
  }
  return kept;
}

const clipped = (name) => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name);

/** The names that fit: of pinned points, of their neighbours, of classes, then of other points. Names that are
 * shown are preferred, so that they do not flicker.
 *
 * With very many points, while the view moves (`fast`), only the names that are shown already are placed again. */
function placeNames(app, context, fast) {
  const { scene, data, frame, marks } = app, { named, size } = scene, pinned = marks.map(({ i }) => i).filter((i) => size[i] > 0);
  const taken = new Set(pinned), boxes = [...frame.taken];
  const put = (i, fontSize, bold) => putName(scene, { i, text: nameOf(data, i), x: scene.px[i], y: scene.py[i], off: size[i] }, fontSize, bold, boxes, frame, context);
  scene.names = [];
  scene.wanted = 0;
  for (const i of pinned) put(i, 13, true);
  placeThumbs(app, boxes);
  if (data.names) for (const j of marks.flatMap(({ links }) => links)) if (data.names[j] && size[j] > 0 && !taken.has(j)) { taken.add(j); put(j, 12, false); }
  placeClassNames(app, context, boxes, taken);
  if (data.names) {
    const most = Math.min(90, Math.round((frame.free.width * frame.free.height) / 8500));
    const wanted = fast ? [...named].filter((i) => size[i] > 0).map((i) => [i, 0.3]) : candidates(app);
    for (const [i, score] of wanted) {
      if (scene.names.length >= most) break;
      if (!taken.has(i)) put(i, score > 0.45 ? 13 : score > 0.15 ? 12 : 11, false);
    }
  }
  named.clear();
  for (const { i } of scene.names) if (i >= 0) named.add(i);
}

const CELL = [84, 22]; // pixels: about the size of a name
const CLADE = 1e-3; // of the nodes of a large tree: smaller subtrees have their names in closer views

/** Points to name, the most important first, each with its score: the best of every cell of the screen. */
function candidates({ scene, data, frame, litRows }) {
  const { x, y, px, py, size, weight, named } = scene, best = new Map(), lit = litRows();
  for (let i = 0; i < data.n; i++) {
    if (size[i] === 0 || !data.names[i] || (lit && !lit[i])) continue;
    scene.wanted++;
    if (scene.crowded && data.subtrees[i] < CLADE * data.n && !lit) continue;
    const t = Math.sqrt(1 + x[i] * x[i] + y[i] * y[i]), near = frame.open ? 1 / (1 + Math.log(t) / 6) : 2 / (1 + t);
    if (near * frame.zoom < 0.02 && !lit) continue;
    const score = near * (0.35 + 0.65 * weight[i]) * (named.has(i) ? 1.25 : 1);
    const cell = Math.floor(px[i] / CELL[0]) + 4096 * Math.floor(py[i] / CELL[1]), held = best.get(cell);
    if (held === undefined || held[1] < score) best.set(cell, [i, score]);
  }
  return [...best.values()].sort((a, b) => b[1] - a[1]);
}

const SAMPLE = 300; // points of a class that its centre is computed from

/** Where the name of each class goes: at the point of that name, or else at the hyperbolic centre of the class. */
function classCentres({ scene, data, colouring }) {
  const { classes, codes, counts } = colouring.labeling;
  if (scene.centres?.of !== data.points || scene.centres.codes !== codes) {
    const members = classes.map(() => []), rows = new Map();
    if (data.names) data.names.forEach((name, i) => { if (!rows.has(name)) rows.set(name, i); });
    for (const i of scene.shuffle) if (members[codes[i]].length < SAMPLE) members[codes[i]].push(i);
    const list = classes.map((text, code) => {
      const i = rows.get(text) ?? -1;
      return { code, text, i, count: counts[code], at: i >= 0 ? pointAt(data.points, i) : centreOf(data.points, members[code]) };
    });
    scene.centres = { of: data.points, codes, list: list.sort((a, b) => b.count - a.count) };
  }
  return scene.centres.list;
}

/** Names of classes, the largest first, unless points are lit or moving. With a closer view more classes have their names. */
function placeClassNames(app, context, boxes, taken) {
  const { scene, frame, colouring, hidden, view, data } = app, classes = colouring.labeling?.classes.length;
  if (!(classes > 1) || 2 * classes > data.n || app.litRows() || app.morph) return;
  const most = Math.round((frame.free.width * frame.free.height) / 20000);
  for (const { code, text, i, at } of classCentres(app)) {
    if (scene.names.length >= most) break;
    const [x, y] = drawnAt(...lookAtOne(at, view), frame), small = !frame.open && Math.hypot(x - frame.cx, y - frame.cy) > 0.985 * frame.scale;
    if (hidden().has(code) || taken.has(i) || small || text === data.unlabelled) continue;
    if (putName(scene, { i, text, x, y, off: i < 0 ? -7 : scene.size[i], code }, 14, true, boxes, frame, context) && i >= 0) taken.add(i);
  }
}

/** Whether a box [left, top, right, bottom] overlaps one of others. */
const overlapsAny = (box, boxes) => boxes.some((b) => b[0] < box[2] && box[0] < b[2] && b[1] < box[3] && box[1] < b[3]);

/** Put a name beside its place, if it is free on one of its sides; returns whether. One that is centred has a negative `off`. */
function putName(scene, { i, text: whole, x, y, off: radius, code = -1 }, fontSize, bold, boxes, { free }, context) {
  const text = clipped(whole), key = `${fontSize}${bold}${text}`;
  if (!scene.widths.has(key)) {
    context.font = FONT(fontSize, bold);
    scene.widths.set(key, context.measureText(text).width);
  }
  const w = scene.widths.get(key), h = fontSize * 1.15, off = Math.max(2, radius) + 4;
  const places = radius < 0 ? [-0.5, -1.9, 0.9].map((up) => [x - w / 2, y + up * h]) : [[x + off, y - h / 2], [x - off - w, y - h / 2], [x - w / 2, y - off - h], [x - w / 2, y + off]];
  for (const [left, top] of places) {
    const box = [left - 3, top - 1, left + w + 3, top + h + 1];
    const inside = box[0] > free.x && box[1] > free.y && box[2] < free.x + free.width && box[3] < free.y + free.height;
    if (!inside && (!bold || code >= 0)) continue;
    if (overlapsAny(box, boxes)) continue;
    boxes.push(box);
    scene.names.push({ i, text, x: left, y: top + h / 2, fontSize, bold, box, width: w, code });
    return true;
  }
  return false;
}

/** The shown point nearest to a place on the screen, or -1 if none is within reach. */
function pick(scene, x, y, reach) {
  let best = reach * reach, found = -1;
  for (let i = 0, n = scene.px.length; i < n; i++) {
    const away = (scene.px[i] - x) ** 2 + (scene.py[i] - y) ** 2;
    if (scene.size[i] > 0 && away < best) [best, found] = [away, i];
  }
  return found;
}

/** The geodesic between two points as drawn, in pixels: a line; an arc { x, y, r, from, to }, anticlockwise if side > 0; or a
 * path [x, y, x, y, ...] where the model bends it otherwise. */
function arcOnScreen(scene, frame, a, b, turn) {
  const ax = frame.cx + frame.scale * scene.zx[a], ay = frame.cy - frame.scale * scene.zy[a];
  const bx = frame.cx + frame.scale * scene.zx[b], by = frame.cy - frame.scale * scene.zy[b];
  const length = Math.hypot(bx - ax, by - ay);
  if (frame.open) {
    const dip = dipOf(scene, a, b, frame), pieces = dip < 0.25 ? 1 : Math.min(MOST_BENDS, 6 + Math.ceil(4 * Math.sqrt(dip)));
    return { ax, ay, bx, by, path: bentPath(scene.x[a], scene.y[a], scene.x[b], scene.y[b], pieces, frame) };
  }
  if (Math.abs(turn) * length < 0.5) return { ax, ay, bx, by };
  const r = length / (2 * Math.sin(Math.abs(turn))), side = Math.sign(turn), lift = (side * Math.cos(turn) * r) / length;
  const x = (ax + bx) / 2 + lift * (by - ay), y = (ay + by) / 2 + lift * (ax - bx);
  return { ax, ay, bx, by, x, y, r, from: Math.atan2(ay - y, ax - x), to: Math.atan2(by - y, bx - x), side };
}
