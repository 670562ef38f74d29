// The hyperbolic plane at curvature -1, in float64.
//
// A point is kept in polar form: t = cosh(radius), r = sinh(radius), and the unit vector (ux, uy) of its direction.
// Every formula below adds positive terms in r and in differences of directions, so that two points at radius 30 are
// distinguished as well as two points near the origin; a product of 3x3 matrices would lose them at radius 15.
//
// A view is the isometry from the world to what is shown: the translation that takes the point (r, ux, uy) to the
// origin, then a turn by an angle. It is an isometry by construction: no rounding can make it anything else.

function polar(x, y) {
  const r = Math.sqrt(x * x + y * y);
  return r > 0 ? { r, ux: x / r, uy: y / r } : { r: 0, ux: 1, uy: 0 };
}

const timeOf = (r) => Math.sqrt(1 + r * r);

/** Length of a vector; Math.hypot, which is slow, only where squares overflow (at distance 355 from the centre). */
const lengthOf = (x, y) => { const square = x * x + y * y; return square < Infinity ? Math.sqrt(square) : Math.hypot(x, y); };

/** Points in polar form, from the space part (x, y) of Lorentz coordinates; `near` is e^{-radius}. */
function polarPoints(x, y) {
  const n = x.length, [r, ux, uy, near] = Array.from({ length: 4 }, () => new Float64Array(n));
  for (let i = 0; i < n; i++) {
    ({ r: r[i], ux: ux[i], uy: uy[i] } = polar(x[i], y[i]));
    near[i] = 1 / (timeOf(r[i]) + r[i]);
  }
  return { n, r, ux, uy, near };
}

const pointAt = (points, i) => ({ r: points.r[i], ux: points.ux[i], uy: points.uy[i] });

/** Coordinates (x, y) on the hyperboloid of every point, as the view shows it. */
function lookAt({ n, r: R, ux: UX, uy: UY, near }, view, x, y) {
  const { ux, uy } = view, f = timeOf(view.r) + view.r; // e^{radius of the centre}
  const cos = Math.cos(view.turn), sin = Math.sin(view.turn), nx = cos * ux - sin * uy, ny = sin * ux + cos * uy;
  for (let i = 0; i < n; i++) {
    // light-cone coordinates along the axis of the translation: it only scales them
    const dx = UX[i] - ux, dy = UY[i] - uy, sx = UX[i] + ux, sy = UY[i] + uy, half = R[i] / 2;
    const low = near[i] + half * (dx * dx + dy * dy), high = near[i] + half * (sx * sx + sy * sy);
    const along = (high / f - low * f) / 2, across = R[i] * (ux * dy - uy * dx);
    x[i] = along * nx - across * ny;
    y[i] = along * ny + across * nx;
  }
}

/** The point of the world shown at (x, y), coordinates on the hyperboloid of the view. */
function worldPoint(view, x, y) {
  const cos = Math.cos(view.turn), sin = Math.sin(view.turn), u = cos * x + sin * y, v = cos * y - sin * x;
  const p = u * view.ux + v * view.uy, q = v * view.ux - u * view.uy;
  const t = timeOf(lengthOf(p, q)), f = timeOf(view.r) + view.r;
  const low = p > 0 ? (1 + q * q) / (t + p) : t - p, high = p < 0 ? (1 + q * q) / (t - p) : t + p;
  const along = (high * f - low / f) / 2;
  return polar(along * view.ux - q * view.uy, along * view.uy + q * view.ux);
}

const alone = ({ r, ux, uy }) => ({ n: 1, r: [r], ux: [ux], uy: [uy], near: [1 / (timeOf(r) + r)] });

/** Coordinates (x, y) on the hyperboloid of one point, as the view shows it. */
function lookAtOne(point, view) {
  const x = [0], y = [0];
  lookAt(alone(point), view, x, y);
  return [x[0], y[0]];
}

/** The view centred at another point of the world, reached from this one along their geodesic without turning. */
function recentred(view, point) {
  const [x, y] = lookAtOne(point, { ...view, turn: 0 });
  const scale = view.r / ((1 + timeOf(view.r)) * (1 + timeOf(lengthOf(x, y))));
  const p = (x * view.ux + y * view.uy) * scale, q = (y * view.ux - x * view.uy) * scale;
  const turn = view.turn + 2 * Math.atan2(q, 1 + p); // the holonomy of the triangle origin, old centre, new centre
  return { ...point, turn: Math.atan2(Math.sin(turn), Math.cos(turn)) };
}

/** The view in which what was shown at `from` is shown at `to`, both [x, y] in the Poincaré disk; the centre does not turn. */
function dragged(view, from, to) {
  const [ax, ay] = from, [bx, by] = to;
  const dx = bx - ax, dy = by - ay, mx = ax * bx - ay * by, my = ax * by + ay * bx;
  const size = 1 - mx * mx - my * my;
  const cx = (dx + mx * dx + my * dy) / size, cy = (dy + my * dx - mx * dy) / size; // z -> (z + c) / (1 + conj(c) z)
  const grow = -2 / (1 - cx * cx - cy * cy);
  return recentred(view, worldPoint(view, grow * cx, grow * cy));
}

/** How far a movement is at a time, from 0 to 1: slowly at both ends. */
function progress(move, now) {
  move.begun ??= now;
  const part = move.length ? Math.min(1, (now - move.begun) / move.length) : 1;
  return part * part * (3 - 2 * part);
}

/** 4 sinh^2(d/2) of two points with space parts of lengths r and s whose directions differ by (dx, dy): a sum of squares. */
const gapOf = (r, s, dx, dy) => (2 * (r - s) * (r - s)) / (1 + lengthOf(1, r) * lengthOf(1, s) + r * s) + r * s * (dx * dx + dy * dy);
const gap = (a, b) => gapOf(a.r, b.r, a.ux - b.ux, a.uy - b.uy);
const distance = (a, b) => 2 * Math.asinh(Math.sqrt(gap(a, b)) / 2);

/** The point a fraction of the way from a to b. */
const between = (a, b, fraction) => (fraction < 1 ? pointAt(pointsBetween(alone(a), alone(b), fraction), 0) : b);

/** The k points nearest to point i, nearest first. */
function nearest(points, i, k) {
  const found = [], a = pointAt(points, i);
  let worst = Infinity;
  for (let j = 0; j < points.n; j++) {
    if (j === i) continue;
    const g = gapOf(a.r, points.r[j], a.ux - points.ux[j], a.uy - points.uy[j]);
    if (g >= worst) continue;
    let at = found.length;
    while (at > 0 && found[at - 1][1] > g) at--;
    found.splice(at, 0, [j, g]);
    if (found.length > k) found.pop();
    if (found.length === k) worst = found[k - 1][1];
  }
  return found.map(([j]) => j);
}

/** Half the angle by which the geodesic of the Poincaré disk from a to b turns: arg(1 - conj(a) b). */
const halfTurn = (ax, ay, bx, by) => Math.atan2(ay * bx - ax * by, 1 - ax * bx - ay * by);

// The views of the plane, a row each. Its button; `factor` from the hyperboloid to the disk, for a point with space part of length
// r and time part t; `lift` from the disk to the hyperboloid; `ring`: the radius of a circle of hyperbolic radius r; `density`:
// hyperbolic area per area of the disk at (x, y). `arcs`: geodesics are arcs of circles. `open`: the disk has no rim, its radius 1
// is the `reach` of the page, and the plane continues outside.
const MODELS = {
  poincare: {
    label: "Poincaré", title: "Poincaré disk: angles are true", arcs: true,
    factor: (r, t) => 1 / (1 + t),
    lift: (x, y) => { const s = 2 / (1 - x * x - y * y); return [s * x, s * y]; },
    ring: (r) => Math.tanh(r / 2),
    density: (x, y) => 4 / (1 - x * x - y * y) ** 2,
  },
  klein: {
    label: "Klein", title: "Klein disk: geodesics are straight",
    factor: (r, t) => 1 / t,
    lift: (x, y) => { const s = 1 / Math.sqrt(1 - x * x - y * y); return [s * x, s * y]; },
    ring: (r) => Math.tanh(r),
    density: (x, y) => (1 - x * x - y * y) ** -1.5,
  },
  equidistant: {
    label: "Distance", title: "Equidistant disk: distances from the centre are true", open: true,
    factor: (r, t, reach) => (r > 0.01 && r < 1e150 ? Math.log(r + t) / r : r > 1e-9 ? Math.asinh(r) / r : 1) / reach,
    lift: (x, y, reach) => {
      const size = Math.sqrt(x * x + y * y), s = size > 1e-12 ? Math.sinh(Math.min(size * reach, 700)) / size : reach;
      return [s * x, s * y];
    },
    ring: (r, reach) => r / reach,
    density: (x, y, reach) => { const r = reach * Math.hypot(x, y); return r > 1e-9 ? (reach * reach * Math.sinh(Math.min(r, 700))) / r : reach * reach; },
  },
};

/** How much larger than the page a disk is drawn, so that points close together fill half of the page; nearly all of it if the rim
 * is far outside. */
const fitOf = ({ open, ring }, reach) => (open ? 1 : ring(reach) < 0.2 ? 0.9 / ring(reach) : Math.max(1, 0.5 / ring(reach)));

/** Where the model draws the point (x, y) of the hyperboloid of the view, in pixels. */
function drawnAt(x, y, { cx, cy, scale, reach, model }) {
  const r = lengthOf(x, y), z = MODELS[model].factor(r, lengthOf(1, r), reach);
  return [cx + scale * x * z, cy - scale * y * z];
}

/** The hyperbolic centre (Fréchet mean) of some points, by Newton's method.
 *
 * Half the squared distance to a point has slope d towards it, and bends by 1 along that direction and d coth d across it.
 */
function centreOf(points, rows) {
  const some = polarPoints(...["ux", "uy"].map((key) => Float64Array.from(rows, (i) => points.r[i] * points[key][i])));
  const x = new Float64Array(some.n), y = new Float64Array(some.n);
  let view = { ...pointAt(some, 0), turn: 0 };
  for (let round = 0; round < 60; round++) {
    lookAt(some, view, x, y);
    let gx = 0, gy = 0, xx = 0, xy = 0, yy = 0;
    for (let i = 0; i < some.n; i++) {
      const r = Math.hypot(x[i], y[i]), d = Math.asinh(r), [nx, ny] = r > 1e-9 ? [x[i] / r, y[i] / r] : [1, 0];
      const across = r > 1e-9 ? (d * timeOf(r)) / r : 1;
      gx += d * nx;
      gy += d * ny;
      xx += nx * nx + across * ny * ny;
      xy += (1 - across) * nx * ny;
      yy += ny * ny + across * nx * nx;
    }
    const det = xx * yy - xy * xy, sx = (yy * gx - xy * gy) / det, sy = (xx * gy - xy * gx) / det;
    const size = Math.hypot(sx, sy), grow = size > 0 ? Math.sinh(Math.min(size, 3)) / size : 0;
    view = { ...worldPoint(view, grow * sx, grow * sy), turn: 0 };
    if (size < 1e-9) break;
  }
  return { r: view.r, ux: view.ux, uy: view.uy };
}

/** All points a fraction of the way from where they are in `a` to where they are in `b`, along geodesics. */
function pointsBetween(a, b, fraction) {
  const x = new Float64Array(a.n), y = new Float64Array(a.n), rest = 1 - fraction;
  for (let i = 0; i < a.n; i++) {
    const ra = a.r[i], rb = b.r[i], g = gapOf(ra, rb, a.ux[i] - b.ux[i], a.uy[i] - b.uy[i]);
    const half = Math.sqrt(g) / 2, time = Math.sqrt(1 + g / 4); // sinh(d / 2) and cosh(d / 2)
    let near = rest * ra, far = fraction * rb;
    if (half > 1e-6) { // the weights are sinh(rest d) / sinh(d) and sinh(fraction d) / sinh(d)
      const d = 2 * Math.log(half + time), p = Math.exp(rest * d), q = Math.exp(fraction * d), whole = 4 * half * time;
      near = ((p - 1 / p) / whole) * ra;
      far = ((q - 1 / q) / whole) * rb;
    }
    x[i] = near * a.ux[i] + far * b.ux[i];
    y[i] = near * a.uy[i] + far * b.uy[i];
  }
  return polarPoints(x, y);
}

/** sinh(d / 2) of two points of the hyperboloid at distance d, given by their space parts. */
function halfGap(ax, ay, bx, by) {
  const ra = lengthOf(ax, ay), rb = lengthOf(bx, by);
  return Math.sqrt(ra && rb ? gapOf(ra, rb, ax / ra - bx / rb, ay / ra - by / rb) : gapOf(ra, rb, 0, 0)) / 2;
}

/** A geodesic as straight pieces on the screen, [x, y, x, y, ...], from the point a = (ax, ay) of the hyperboloid of the view to b.
 *
 * The pieces are shortest near the centre, where it turns.
 */
function bentPath(ax, ay, bx, by, pieces, frame) {
  const d = 2 * Math.asinh(halfGap(ax, ay, bx, by)), whole = 1 - Math.exp(-2 * d);
  // the point nearest to the centre is `before` from a: e^{2 before} = (e^d - q) / (q - e^{-d}), q the ratio of the times
  const q = lengthOf(1, lengthOf(bx, by)) / lengthOf(1, lengthOf(ax, ay)), up = Math.exp(d) - q, down = q - Math.exp(-d);
  const before = up <= 0 ? -400 : down <= 0 ? d + 400 : Math.log(up / down) / 2;
  const first = Math.asinh(-before), last = Math.asinh(d - before), path = new Array(2 * pieces + 2);
  for (let k = 0; k <= pieces; k++) {
    const e = Math.exp(first + ((last - first) * k) / pieces), s = Math.min(d, Math.max(0, (e - 1 / e) / 2 + before));
    const low = Math.exp(-s), high = Math.exp(s - d); // the weights are sinh(d - s) / sinh(d) and sinh(s) / sinh(d)
    const wa = whole > 1e-12 ? (low * (1 - high * high)) / whole : 1 - k / pieces;
    const wb = whole > 1e-12 ? (high * (1 - low * low)) / whole : k / pieces;
    [path[2 * k], path[2 * k + 1]] = drawnAt(wa * ax + wb * bx, wa * ay + wb * by, frame);
  }
  return path;
}
