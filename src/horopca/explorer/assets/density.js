// Density contours: lines around the densest parts of the points in view, measured by points per hyperbolic area.

const SHARES = [0.2, 0.4, 0.6, 0.8]; // the fractions of the points in view inside the contours
const FEWEST_DENSE = 500, DENSE = 100000; // with fewer points there are no contours; with more, they are on from the start
const GRID = 6, BLUR = 3; // pixels of a cell; the half-width, in cells, of the box blur, which is applied three times

/** A grid of counts, each replaced by the mean of those in a box around it, along rows and then along columns. */
function blurred(grid, wide, high) {
  for (const [count, step, lines, jump] of [[wide, 1, high, wide], [high, wide, wide, 1]]) {
    const line = new Float64Array(count + 1);
    for (let l = 0; l < lines; l++) {
      for (let k = 0; k < count; k++) line[k + 1] = line[k] + grid[l * jump + k * step];
      for (let k = 0; k < count; k++) grid[l * jump + k * step] = (line[Math.min(count, k + BLUR + 1)] - line[Math.max(0, k - BLUR)]) / (2 * BLUR + 1);
    }
  }
  return grid;
}

/** Points per hyperbolic area in cells of the screen, and the densities whose lines enclose the SHARES of the points.
 *
 * Points on the rim, where a pixel is a large part of the plane, are left out. */
function densityOf({ scene, frame, model }) {
  const wide = Math.ceil(frame.width / GRID), high = Math.ceil(frame.height / GRID), { density, open } = MODELS[model];
  const counts = new Float64Array(wide * high), rates = new Float64Array(wide * high);
  for (let i = 0; i < scene.px.length; i++) {
    const c = Math.floor(scene.px[i] / GRID), r = Math.floor(scene.py[i] / GRID);
    if (scene.size[i] > 0 && c >= 0 && r >= 0 && c < wide && r < high) counts[r * wide + c]++;
  }
  const smooth = [1, 2, 3].reduce((grid) => blurred(grid, wide, high), Float64Array.from(counts));
  for (let r = 0; r < high; r++) {
    for (let c = 0; c < wide; c++) {
      const x = ((c + 0.5) * GRID - frame.cx) / frame.scale, y = ((r + 0.5) * GRID - frame.cy) / frame.scale;
      rates[r * wide + c] = open || x * x + y * y < 0.98 ? smooth[r * wide + c] / density(x, y, frame.reach) : 0;
    }
  }
  const order = Uint32Array.from(counts.keys()).filter((k) => counts[k] * rates[k] > 0).sort((a, b) => rates[b] - rates[a]);
  const all = order.reduce((sum, k) => sum + counts[k], 0), levels = [];
  let inside = 0;
  for (const k of order) {
    inside += counts[k];
    while (levels.length < SHARES.length && inside >= SHARES[levels.length] * all) levels.push(rates[k]);
  }
  return { rates, wide, high, levels };
}

/** The line of a level as pieces [x, y, x, y] in pixels: where it crosses the sides of each square of four cells. */
function lineAt(level, { rates, wide, high }) {
  const pieces = [], at = (c, r) => rates[r * wide + c] - level;
  for (let r = 0; r < high - 1; r++) {
    for (let c = 0; c < wide - 1; c++) {
      const corners = [[c, r], [c + 1, r], [c + 1, r + 1], [c, r + 1]], ends = [];
      corners.forEach(([x, y], k) => {
        const [u, v] = corners[(k + 1) % 4], a = at(x, y), b = at(u, v);
        if (a > 0 !== b > 0) ends.push(GRID * (x + 0.5 + ((u - x) * a) / (a - b)), GRID * (y + 0.5 + ((v - y) * a) / (a - b)));
      });
      for (let k = 0; k < ends.length; k += 4) pieces.push(ends.slice(k, k + 4));
    }
  }
  return pieces;
}

/** The lines of all levels. They are computed once the view rests. */
function contoursOf(app) {
  if (!app.on.density || app.flight || app.morph) return [];
  app.contours ??= ((found) => found.levels.map((level) => lineAt(level, found)))(densityOf(app));
  return app.contours;
}

function paintDensity(context, app) {
  contoursOf(app).forEach((pieces, k) => {
    context.beginPath();
    for (const [x, y, u, v] of pieces) { context.moveTo(x, y); context.lineTo(u, v); }
    stroke(context, rgba(app.theme.ink, 0.85 - 0.15 * k), 1.8 - 0.3 * k);
  });
}
