// HoroPCA with a free spine, from any dimension to the plane, and refinement. The page's script runs this in a worker, too.
//
// The formulas are those of docs/method.md. A spine is the span of two rows A of R^{1,d}; points come as their space parts
// s (n times d numbers), t = sqrt(1 + |s|^2). Objectives return a value and its gradient, and L-BFGS maximises them.

function randomNumbers(seed) {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = Math.imul(state ^ (state >>> 15), state | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 4294967296;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return { uniform, normal, below: (n) => Math.floor(uniform() * n) };
}

/** An array in random order. */
function shuffled(values, random) {
  for (let i = values.length - 1; i > 0; i--) { const j = random.below(i + 1); [values[i], values[j]] = [values[j], values[i]]; }
  return values;
}

/** The length of the space part of the row of m numbers (t, s) that begins at a place in x. */
function lengthAt(x, at, m) {
  let square = 0;
  for (let k = at + 1; k < at + m; k++) square += x[k] * x[k];
  return Math.sqrt(square);
}

/** Points as rows (t, s): { n, m = d + 1, x: numbers n * m }. */
function onHyperboloid(s, d, rows) {
  const n = rows ? rows.length : s.length / d, m = d + 1, x = new Float64Array(n * m);
  for (let i = 0; i < n; i++) {
    const from = (rows ? rows[i] : i) * d;
    x.set(s.subarray(from, from + d), i * m + 1);
    x[i * m] = timeOf(lengthAt(x, i * m, m));
  }
  return { n, m, x };
}

/** Light-cone coordinates low = t - s.u and high = t + s.u of a row along the unit vector u, the length r of its space part, and
 * the squares of the differences of its direction from u and from -u.
 *
 * Both coordinates are sums of positive terms, so that nothing cancels at any radius; t - s.u as such has no digit left at
 * radius 19. */
function coneOf(x, at, m, u) {
  const r = lengthAt(x, at, m);
  let towards = 0, away = 0;
  for (let k = 1; k < m && r > 0; k++) {
    towards += (x[at + k] / r - u[k - 1]) ** 2;
    away += (x[at + k] / r + u[k - 1]) ** 2;
  }
  const near = 1 / (x[at] + r);
  return { r, towards, away, low: near + (r / 2) * towards, high: near + (r / 2) * away };
}

/** Moved by the translation that takes the point with space part c to the origin, or (back) the origin to that point.

 * (In light-cone coordinates along c it is a scaling.) */
function translated({ n, m, x }, c, back = false) {
  const out = Float64Array.from(x), length = Math.hypot(...c);
  if (length === 0) return { n, m, x: out };
  const u = c.map((v) => v / length), grow = length + timeOf(length), factor = back ? 1 / grow : grow;
  for (let i = 0; i < n; i++) {
    const at = i * m, { r, towards, away, ...cone } = coneOf(x, at, m, u), low = cone.low * factor, high = cone.high / factor;
    const along = (high - low) / 2, side = towards < away ? 1 : -1, part = (side * Math.min(towards, away)) / 2;
    for (let k = 1; k < m; k++) { // what is across u, e - u (e.u), from the smaller of the two differences
      const across = r > 0 ? x[at + k] / r - side * u[k - 1] + part * u[k - 1] : 0;
      out[at + k] = along * u[k - 1] + r * across;
    }
    out[at] = (high + low) / 2;
  }
  return { n, m, x: out };
}

/** The space part of the Fréchet mean, by steps as long as the mean second derivative of the squared distances allows. */
function meanOf(points) {
  const { n, m } = points;
  let c = new Float64Array(m - 1);
  for (let round = 0; round < 200; round++) {
    const seen = translated(points, c), step = new Float64Array(m - 1);
    let bend = 0;
    for (let i = 0; i < n; i++) {
      const r = lengthAt(seen.x, i * m, m), grow = r > 1e-9 ? Math.asinh(r) / r : 1;
      bend += grow * seen.x[i * m];
      for (let k = 1; k < m; k++) step[k - 1] += grow * seen.x[i * m + k];
    }
    for (let k = 0; k < m - 1; k++) step[k] /= bend;
    const size = Math.hypot(...step), next = Float64Array.from([Math.cosh(size), ...step.map((v) => (size > 0 ? (v / size) * Math.sinh(size) : 0))]);
    c = translated({ n: 1, m, x: next }, c, true).x.slice(1);
    if (size < 1e-9) break;
  }
  return c;
}


const inner = (a, b) => { let sum = 0; for (let k = 0; k < a.length; k++) sum += a[k] * b[k]; return sum; };
const unit = (a) => { const size = Math.sqrt(inner(a, a)) || 1; return a.map((v) => v / size); };

/** An orthonormal basis (v0, w), (0, u) of the two rows of A, in which only the first has time, v0 >= 0. */
function splitBasis(A, m) {
  const P = unit(A.slice(0, m));
  let Q = unit(A.slice(m));
  for (let twice = 0; twice < 2; twice++) { const along = inner(P, Q); Q = unit(Q.map((v, k) => v - along * P[k])); }
  const size = Math.hypot(P[0], Q[0]), cos = size > 0 ? P[0] / size : 1, sin = size > 0 ? Q[0] / size : 0;
  const v = P.map((value, k) => cos * value + sin * Q[k]), u = P.map((value, k) => cos * Q[k] - sin * value);
  u[0] = 0;
  return { v, u };
}

/** v0 t - s.w without cancellation, from the light-cone coordinates along w. */
function poleProduct(x, at, m, v, length) {
  if (length === 0) return v[0] * x[at];
  const { low, high } = coneOf(x, at, m, v.slice(1).map((part) => part / length));
  return ((v[0] + length) / 2) * low + ((v[0] - length) / 2) * high;
}

/** Images in the upper half-plane (beta, eta = 1 / R), and the pullback from gradients in them to the gradient in A. */
function slide({ n, m, x }, A) {
  const { v, u } = splitBasis(A, m), length = lengthAt(v, 0, m), g = (length - v[0]) * (length + v[0]);
  const beta = new Float64Array(n), eta = new Float64Array(n), C = new Float64Array(n), B = new Float64Array(n);
  const R = new Float64Array(n), root = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const at = i * m;
    let c = v[0] * x[at], b = 0;
    for (let k = 1; k < m; k++) { c -= v[k] * x[at + k]; b += u[k] * x[at + k]; }
    if (Math.abs(c) < 1e-7 * x[at]) c = poleProduct(x, at, m, v, length);
    const size = 1 + b * b, w = Math.sqrt(Math.max(c * c + g * size, 1e-24 * c * c));
    const r = g <= 0 || c >= 0 ? (c + w) / 2 : (g * size) / (2 * (w + Math.abs(c)));
    C[i] = c; B[i] = b; R[i] = r; root[i] = w;
    beta[i] = b / r;
    eta[i] = 1 / r;
  }

  function pullback(gBeta, gEta) {
    let gG = 0, F01 = 0, F11 = 0;
    const G = new Float64Array(2 * m);
    for (let i = 0; i < n; i++) {
      const r = R[i], gR = -(gBeta[i] * B[i] + gEta[i]) / (r * r), gC = (gR * r) / root[i];
      const gB = gBeta[i] / r + ((gR * g) / (2 * root[i])) * B[i];
      gG += (gR * (1 + B[i] * B[i])) / root[i] / 4;
      F01 += (gC * B[i]) / 2;
      F11 -= (gB * B[i]) / 2;
      for (let k = 0, at = i * m; k < m; k++) { G[k] -= gC * x[at + k]; G[m + k] += gB * x[at + k]; }
    }
    for (let k = 0; k < m; k++) {
      G[k] += 2 * (gG * v[k] + F01 * u[k]);
      G[m + k] += 2 * (F01 * v[k] + F11 * u[k]);
    }
    G[0] = -G[0];
    G[m] = -G[m];
    // the gradient in the basis (v, u) of the span, taken to A: by the inverse of A V^T, transposed
    const p = A.slice(0, m), q = A.slice(m), pv = inner(p, v), pu = inner(p, u), qv = inner(q, v), qu = inner(q, u);
    const det = pv * qu - pu * qv || 1e-300, out = new Float64Array(2 * m);
    for (let k = 0; k < m; k++) {
      out[k] = (qu * G[k] - qv * G[m + k]) / det;
      out[m + k] = (pv * G[m + k] - pu * G[k]) / det;
    }
    return out;
  }

  return { beta, eta, R, pullback };
}


/** Pairs (i, j) as two arrays: all of them, or shifts of the rows by a few random distances. */
function somePairs(n, shifts, random) {
  const half = Math.floor((n - 1) / 2);
  const first = [], second = [];
  if (shifts >= half) {
    for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) { first.push(i); second.push(j); }
  } else {
    const offsets = new Set();
    while (offsets.size < shifts) offsets.add(1 + random.below(half));
    for (const offset of offsets) for (let i = 0; i < n; i++) { first.push(i); second.push((i + offset) % n); }
  }
  return { first: Uint32Array.from(first), second: Uint32Array.from(second) };
}

const SMALL_FIT = 400; // up to this many points, all pairs are used

/** All pairs of few points, or about `count` pairs of many. */
const pairsFor = (n, count, random) => somePairs(n, n <= SMALL_FIT ? n : Math.max(8, Math.round(count / n)), random);

function distanceBetween({ x, m }, i, j) {
  const r = lengthAt(x, i * m, m), q = lengthAt(x, j * m, m);
  let turned = 0; // the square of the difference of the directions
  for (let k = 1; k < m && r > 0 && q > 0; k++) turned += (x[i * m + k] / r - x[j * m + k] / q) ** 2;
  return 2 * Math.asinh(Math.sqrt(gapOf(r, q, Math.sqrt(turned), 0)) / 2);
}

/** A -> { value, gradient }: the mean squared projected distance, or the mean of projected distance / distance. */
function objectiveOf(points, pairs, goal) {
  const { first, second } = pairs, count = first.length, keep = goal === "distortion";
  const inverse = keep ? new Float64Array(count) : null;
  let apart = 0;
  if (keep) {
    for (let p = 0; p < count; p++) {
      const d = distanceBetween(points, first[p], second[p]);
      inverse[p] = d > 0 ? 1 / d : 0;
      apart += d > 0;
    }
  }
  const scale = keep ? 2 / Math.max(apart, 1) : 4 / Math.max(count, 1);

  return (A) => {
    const { beta, eta, R, pullback } = slide(points, A), gBeta = new Float64Array(points.n), gEta = new Float64Array(points.n);
    let value = 0;
    for (let p = 0; p < count; p++) {
      const i = first[p], j = second[p], db = beta[i] - beta[j], de = eta[i] - eta[j], near = (R[i] * R[j]) / 4;
      const square = (db * db + de * de) * near + 1e-290, a = Math.sqrt(square), c = Math.sqrt(1 + square);
      const h = a < 0.01 ? Math.asinh(a) : Math.log(a + c);
      const slope = (keep ? inverse[p] / 2 : h) / (a * c), pull = 2 * near * slope;
      const along = pull * db, down = pull * de, rise = slope * square;
      value += keep ? h * inverse[p] : h * h;
      gBeta[i] += along;
      gBeta[j] -= along;
      gEta[i] += down - rise * R[i];
      gEta[j] -= down + rise * R[j];
    }
    const gradient = pullback(gBeta, gEta).map((v) => v * scale);
    return { value: value * scale, gradient };
  };
}


/** L-BFGS with a backtracking step, upwards. */
function climb(objective, start, most, tolerance = 1e-10) {
  let point = Float64Array.from(start), { value, gradient } = objective(point);
  const memory = [];
  for (let round = 0; round < most; round++) {
    const direction = Float64Array.from(gradient), parts = [];
    for (let k = memory.length - 1; k >= 0; k--) {
      const { s, y, rho } = memory[k], part = rho * inner(s, direction);
      parts[k] = part;
      for (let l = 0; l < direction.length; l++) direction[l] -= part * y[l];
    }
    const last = memory[memory.length - 1];
    const grow = last ? 1 / (last.rho * inner(last.y, last.y)) : 0.1 / (Math.sqrt(inner(gradient, gradient)) || 1);
    for (let l = 0; l < direction.length; l++) direction[l] *= grow;
    memory.forEach(({ s, y, rho }, k) => {
      const part = parts[k] - rho * inner(y, direction);
      for (let l = 0; l < direction.length; l++) direction[l] += part * s[l];
    });
    const slope = inner(direction, gradient);
    if (!(slope > 0) && !memory.length) break;
    let step = 1, next = null, tried = null;
    for (let halvings = 0; halvings < 25; halvings++, step /= 2) {
      tried = point.map((v, k) => v + step * direction[k]);
      next = objective(tried);
      if (next.value >= value + 1e-4 * step * slope) break;
      next = null;
    }
    if (!next) { // at a kink, such as where a point lies on the spine, the memory misleads: try once more without it
      if (!memory.length) break;
      memory.length = 0;
      continue;
    }
    const s = tried.map((v, k) => v - point[k]), y = gradient.map((v, k) => v - next.gradient[k]), bend = inner(s, y);
    if (bend > 1e-14 * inner(y, y)) memory.push({ s, y, rho: 1 / bend });
    if (memory.length > 20) memory.shift();
    const gain = next.value - value;
    [point, value, gradient] = [tried, next.value, next.gradient];
    if (gain < tolerance * Math.abs(value)) break;
  }
  return { point, value };
}

/** Bases to start from: spans of directions of points, exact or perturbed, for all three kinds of spine. */
function startsFor({ n, m, x }, count, random) {
  const direction = (shake) => {
    const at = random.below(n) * m;
    return unit(unit(Array.from(x.subarray(at + 1, at + m))).map((v) => v + shake * random.normal()));
  };
  return Array.from({ length: count }, (_, k) => {
    const shake = k % 2 ? 0.05 : 1e-9, p = direction(shake), q = direction(shake), tilt = () => 2 * random.uniform() - 1;
    if (k % 3 === 0) return Float64Array.from([1, ...p, 1, ...q]);
    if (k % 3 === 1) { const r = tilt(); return Float64Array.from([1, ...p.map((v) => v * r), 0, ...q]); }
    return k % 12 < 6 ? Float64Array.from([0, ...p, 0, ...q]) : Float64Array.from([tilt(), ...p, tilt(), ...q]);
  });
}

const firstOf = ({ m, x }, n) => ({ n, m, x: x.subarray(0, n * m) });

/** A basis near another: the other one, perturbed in random directions. */
function beside(A, m, random) {
  const size = (k) => Math.hypot(...A.subarray(k * m, (k + 1) * m)) / Math.sqrt(m), far = 2 * random.uniform();
  return A.map((v, k) => v + far * size(Math.floor(k / m)) * random.normal());
}

/** The best spine found for points near the origin: many starts on a few pairs, the better ones on more, then hops from the best.
 *
 * Starts are compared by variance for both goals: it has fewer local maxima than the distortion, and the best are close together. */
function searchSpine(points, goal, random) {
  const { n, m } = points;
  const sample = (rows, count, towards) => {
    const part = firstOf(points, Math.min(rows, n));
    return objectiveOf(part, somePairs(part.n, Math.max(4, Math.round(count / part.n)), random), towards);
  };
  const best = (runs, keep) => runs.filter(({ value }) => Number.isFinite(value)).sort((a, b) => b.value - a.value).slice(0, keep);
  const within = (least, most, value) => Math.min(most, Math.max(least, Math.round(value))); // few points: more starts, at no cost
  const look = sample(256, 2048, "variance"), try1 = sample(512, 4096, "variance"), try2 = sample(1024, 12288, "variance");
  const trial = sample(1024, 6144, goal), last = objectiveOf(points, pairsFor(n, 24000, random), goal);
  const many = within(36, 90, 12000 / n);
  let field = best(startsFor(points, 4 * many, random).map((point) => ({ point, value: look(point).value })), many);
  field = best(field.map(({ point }) => climb(try1, point, 12, 1e-6)), Math.round(many / 3));
  field = best(field.map(({ point }) => climb(try2, point, 30, 1e-8)), 4);
  let found = best(field.map(({ point }) => climb(last, point, 50)), 1)[0];
  for (let hop = within(10, 40, 5000 / n); hop > 0; hop--) {
    const near = climb(trial, beside(found.point, m, random), 25, 1e-6);
    if (near.value < 0.998 * trial(found.point).value) continue; // of few pairs: a little less may be more of all
    const next = climb(last, near.point, 30);
    if (next.value > found.value) found = next;
  }
  const [rounds, tolerance] = n <= SMALL_FIT ? [100, 1e-12] : [12, 1e-7];
  return climb(objectiveOf(points, pairsFor(n, 100000, random), goal), found.point, rounds, tolerance).point;
}


/** Images of points in the plane, as space parts (x, y interleaved). */
function planeOf(points, A) {
  const { beta, eta } = slide(points, A), out = new Float64Array(2 * points.n);
  for (let i = 0; i < points.n; i++) {
    const r = 1 / eta[i], b = beta[i] * r;
    out[2 * i] = b;
    out[2 * i + 1] = ((1 + b * b) / r - r) / 2;
  }
  return out;
}

/** Mean squared distance of pairs, and the mean of |d' - d| / d: what a picture (x, y interleaved) keeps of the points. */
function keptBy(points, plane, pairs) {
  const flat = onHyperboloid(plane, 2);
  let variance = 0, distortion = 0, apart = 0;
  pairs.first.forEach((i, p) => {
    const d = distanceBetween(points, i, pairs.second[p]), e = distanceBetween(flat, i, pairs.second[p]);
    variance += e * e;
    if (d > 0) { distortion += Math.abs(e - d) / d; apart++; }
  });
  return { variance: variance / Math.max(pairs.first.length, 1), distortion: distortion / Math.max(apart, 1) };
}

/** Fit to some rows of the original points, and project all of them. */
function refit({ original, d, rows, goal, before }) {
  const random = randomNumbers(1), order = shuffled(Uint32Array.from(rows), random);
  const chosen = onHyperboloid(original, d, order), centre = meanOf(chosen), seen = translated(chosen, centre);
  const A = searchSpine(seen, goal, random), plane = planeOf(translated(onHyperboloid(original, d), centre), A);
  const some = (values) => Float64Array.from([...order].flatMap((i) => [values[2 * i], values[2 * i + 1]]));
  const pairs = pairsFor(chosen.n, 300000, random); // good to a thousandth
  const was = keptBy(chosen, some(before), pairs), is = keptBy(chosen, some(plane), pairs);
  const better = goal === "distortion" ? is.distortion <= was.distortion * (1 + 1e-9) : is.variance >= was.variance * (1 - 1e-9);
  return { plane: better ? plane : null, basis: A, centre, was, is };
}

const REFINE_PAIRS = 100000, REFINE_STEPS = 200; // of a refinement: pairs that it looks at, and steps
const SOFTNESS = [0.1, 0.01]; // the kink of |e| at 0 is smooth over these widths, the last a tenth of usual distortions
const DEEPEST = 150; // radius beyond which products of lengths overflow

/** v -> { value, gradient }: minus the mean of |d' - d| / d over pairs at distances `far`, for points that move freely.
 *
 * The points are tangent vectors v (x, y interleaved) at the centre of the picture, whose lengths are their radii. */
function freely(n, { first, second }, far, softness) {
  const r = new Float64Array(n), ux = new Float64Array(n), uy = new Float64Array(n), sinh = new Float64Array(n), cosh = new Float64Array(n);
  return (v) => {
    const gradient = new Float64Array(2 * n);
    let value = 0;
    for (let i = 0; i < n; i++) {
      r[i] = Math.sqrt(v[2 * i] ** 2 + v[2 * i + 1] ** 2) || 1e-300;
      [ux[i], uy[i], sinh[i], cosh[i]] = [v[2 * i] / r[i], v[2 * i + 1] / r[i], Math.sinh(r[i]), Math.cosh(r[i])];
    }
    for (let p = 0; p < first.length; p++) {
      const i = first[p], j = second[p], d = far[p], turned = ((ux[i] - ux[j]) ** 2 + (uy[i] - uy[j]) ** 2) / 2;
      const half = Math.sinh((r[i] - r[j]) / 2), gap = 2 * half * half + sinh[i] * sinh[j] * turned; // cosh d' - 1
      if (!(d > 0) || !(gap > 0)) continue;
      const e = (2 * Math.asinh(Math.sqrt(gap / 2))) / d - 1, size = Math.sqrt(e * e + softness ** 2);
      const pull = -e / (size * Math.sqrt(gap * (gap + 2)) * d * first.length);
      const away = 2 * half * Math.sqrt(1 + half * half), across = pull * sinh[i] * sinh[j] * (ux[i] * uy[j] - uy[i] * ux[j]);
      const outI = pull * (away + cosh[i] * sinh[j] * turned), outJ = pull * (cosh[j] * sinh[i] * turned - away);
      value -= size / first.length;
      gradient[2 * i] += outI * ux[i] + (across / r[i]) * uy[i];
      gradient[2 * i + 1] += outI * uy[i] - (across / r[i]) * ux[i];
      gradient[2 * j] += outJ * ux[j] - (across / r[j]) * uy[j];
      gradient[2 * j + 1] += outJ * uy[j] + (across / r[j]) * ux[j];
    }
    return { value, gradient };
  };
}

/** Vectors (x, y interleaved) with each length replaced by a function of it. */
function stretched(v, length) {
  const out = Float64Array.from(v);
  for (let k = 0; k < v.length; k += 2) {
    const r = Math.hypot(v[k], v[k + 1]), grow = r > 0 ? length(r) / r : 1;
    out[k] *= grow;
    out[k + 1] *= grow;
  }
  return out;
}

/** The picture of all points that free coordinates reach from the one `before`, which is centred. */
function refine({ original, d, before }) {
  const random = randomNumbers(1), points = onHyperboloid(original, d), pairs = pairsFor(points.n, 300000, random);
  const was = keptBy(points, before, pairs), looked = pairsFor(points.n, REFINE_PAIRS, random);
  const far = Float64Array.from(looked.first, (i, p) => distanceBetween(points, i, looked.second[p]));
  let v = stretched(before, Math.asinh);
  if (v.some((part) => Math.abs(part) > DEEPEST)) throw new Error("the points are too far apart");
  for (const softness of SOFTNESS) v = climb(freely(points.n, looked, far, softness), v, REFINE_STEPS, 1e-7).point;
  const plane = stretched(v, Math.sinh), is = keptBy(points, plane, pairs);
  return { plane: is.distortion < was.distortion ? plane : null, basis: [], centre: [], was, is };
}

/** The objective over all pairs of some rows at a basis, for the tests. */
function evaluate({ original, d, rows, goal, basis }) {
  const points = onHyperboloid(original, d, rows), pairs = somePairs(points.n, points.n, randomNumbers(1));
  return objectiveOf(points, pairs, goal)(Float64Array.from(basis));
}

function answerTo(question) {
  const begun = performance.now();
  try {
    const answer = (question.basis ? evaluate : question.goal === REFINE ? refine : refit)(question);
    return { ...answer, seconds: (performance.now() - begun) / 1000 };
  } catch (error) {
    return { error: error.message };
  }
}
