// Confidence regions of points: ellipses in their tangent spaces, taken into the plane by the exponential map.

const MOST_REGIONS = 1000; // in one frame
const LARGEST_REGION = 0.25; // of the area of the picture; larger regions are omitted unless their points are pinned or selected
const FLAT = 0.3; // pixels between a border and its polygon at most

/** The border of the region of a point in pixels, [x, y, x, y, ...], as a closed curve that is right to FLAT of a pixel. */
function borderOnScreen(app, i) {
  const { data, view, frame, borders } = app;
  if (borders.has(i)) return borders.get(i);
  const [a, b, c, d] = data.ellipses.subarray(4 * i, 4 * i + 4), image = { ...pointAt(data.first, i), turn: 0 };
  const place = (angle) => {
    const cos = Math.cos(angle), sin = Math.sin(angle), x = a * cos + b * sin, y = c * cos + d * sin, r = Math.hypot(x, y);
    const grow = r > 1e-9 ? Math.sinh(Math.min(r, 300)) / r : 1;
    return drawnAt(...lookAtOne(worldPoint(image, grow * x, grow * y), view), frame);
  };
  const path = [], angles = anglesToCut([a, b, c, d], lookAtOne(view, image)), outside = ([x, y]) =>
    x < -frame.width || x > 2 * frame.width || y < -frame.height || y > 2 * frame.height;
  const cut = (from, start, to, end, depth) => {
    const middle = (from + to) / 2, [x, y] = place(middle), off = Math.hypot(x - (start[0] + end[0]) / 2, y - (start[1] + end[1]) / 2);
    if (depth && off > FLAT && !(outside(start) && outside(end) && outside([x, y]))) {
      cut(from, start, middle, [x, y], depth - 1);
      cut(middle, [x, y], to, end, depth - 1);
    } else path.push(x, y, ...end);
  };
  let from = angles[0], start = place(from);
  for (const to of angles.slice(1)) {
    const end = place(to);
    cut(from, start, to, end, 9);
    [from, start] = [to, end];
  }
  borders.set(i, path);
  return path;
}

/** Angles once around, dense where the ellipse comes nearest to the centre of the view: of a large region in the plane, that
 * part is nearly all that is seen, as lengths farther away by r are smaller by e^r. */
function anglesToCut([a, b, c, d], [x, y]) {
  const turn = Math.atan2(b * x + d * y, a * x + c * y), steps = 3 + Math.ceil(Math.min(300, Math.hypot(a, b, c, d)) / Math.LN2);
  const offsets = Array.from({ length: steps }, (_, k) => Math.PI / 2 ** k);
  return [...offsets.map((off) => turn - off), turn, ...offsets.reverse().map((off) => turn + off)];
}

/** Twice the signed area of a closed path. */
function areaOf(path) {
  let sum = 0;
  for (let k = 0, l = path.length - 2; k < path.length; l = k, k += 2) sum += path[l] * path[k + 1] - path[k] * path[l + 1];
  return sum;
}

/** The regions to draw, { i, path }: of pinned and selected points first and, where all are wanted, of those in view that are
 * not too large. They belong to the picture that the page starts with, and to no other. */
function drawnRegions(app) {
  const { data, scene, frame } = app;
  app.regionsWanted = 0;
  if (!data.ellipses || data.points !== data.first) return [];
  const chosen = [...new Set([...app.marks.map(({ i }) => i), ...app.rows])].filter((i) => app.shown[i] && scene.size[i] > 0);
  const picked = new Set(chosen), found = [];
  const others = app.on.regions ? Array.from(scene.marks.subarray(0, scene.marked)).filter((i) => !picked.has(i)) : [];
  app.regionsWanted = chosen.length + others.length;
  const most = 2 * LARGEST_REGION * Math.min(Math.PI * frame.scale ** 2, frame.free.width * frame.free.height);
  for (const i of [...chosen, ...others].slice(0, MOST_REGIONS)) {
    const path = borderOnScreen(app, i);
    if (picked.has(i) || Math.abs(areaOf(path)) < most) found.push({ i, path });
  }
  return found;
}

/** The note about the regions: their level, and how many are drawn. */
function regionNote(app) {
  if (!app.regionsWanted) return [];
  const { regionsWanted: all, regionsDrawn: drawn, data } = app, count = (n) => n.toLocaleString("en");
  const part = drawn < all ? `, ${count(drawn)} of ${count(all)} drawn (those no larger than a quarter of the picture)` : "";
  return [`regions: ${digits(100 * data.level)} % confidence${part}`];
}

function paintRegions(context, app) {
  const regions = drawnRegions(app);
  app.regionsDrawn = regions.length;
  for (const { i, path } of regions) {
    traceOutline(context, path);
    context.globalAlpha = 0.15;
    fill(context, css(app.paint[i]));
    context.globalAlpha = 0.8;
    stroke(context, css(app.paint[i]), 1);
  }
  context.globalAlpha = 1;
}
