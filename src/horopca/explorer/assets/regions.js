// Regions around points, where these may lie: of those that are marked and selected, or of all.

const MOST_REGIONS = 5000; // in one frame

function addRegions(app) {
  const { data } = app;
  app.allRegions = false;
  document.body.classList.toggle("unsure", Boolean(data.around));
  if (data.around) data.borders = polarPoints(data["border-x"], data["border-y"]);
  app.setRegions = (all) => {
    app.allRegions = all;
    $("regions").setAttribute("aria-pressed", String(all));
    app.draw("ink");
  };
  $("regions").addEventListener("click", () => { app.touched(); app.setRegions(!app.allRegions); });
}

/** The rows whose regions are in sight. They are those of the picture that the page starts with, and of no other. */
function rowsWithRegions(app) {
  const { data, scene } = app;
  if (!data.borders || data.points !== data.first) return [];
  const wanted = app.allRegions ? Array.from(scene.marks.subarray(0, scene.marked)) : [...new Set([...app.marks.map(({ i }) => i), ...app.rows])];
  return wanted.filter((i) => app.shown[i]).slice(0, MOST_REGIONS);
}

/** The border of the region of a point in pixels: [x, y, x, y, ...]. */
function regionOnScreen({ data, view, frame, model }, i) {
  const m = data.around, part = (a) => a.subarray(i * m, (i + 1) * m), { r, ux, uy, near } = data.borders;
  const x = new Float64Array(m), y = new Float64Array(m), path = new Array(2 * m), { time, open } = MODELS[model];
  lookAt({ n: m, r: part(r), ux: part(ux), uy: part(uy), near: part(near) }, view, x, y);
  for (let k = 0; k < m; k++) {
    const far = Math.hypot(x[k], y[k]), z = open ? (far > 1e-9 ? Math.asinh(far) / (far * frame.reach) : 1 / frame.reach) : 1 / (time + timeOf(far));
    path[2 * k] = frame.cx + frame.scale * x[k] * z;
    path[2 * k + 1] = frame.cy - frame.scale * y[k] * z;
  }
  return path;
}

function paintRegions(context, app) {
  context.lineWidth = 1;
  for (const i of rowsWithRegions(app)) {
    const path = regionOnScreen(app, i);
    context.beginPath();
    for (let k = 0; k < path.length; k += 2) context.lineTo(path[k], path[k + 1]);
    context.closePath();
    context.fillStyle = context.strokeStyle = css(app.paint[i]);
    context.globalAlpha = 0.15;
    context.fill();
    context.globalAlpha = 0.8;
    context.stroke();
  }
  context.globalAlpha = 1;
}

const svgRegions = (app) => rowsWithRegions(app).map((i) => {
  const path = regionOnScreen(app, i), at = (k) => `${short(path[k])} ${short(path[k + 1])}`;
  const border = Array.from({ length: path.length / 2 }, (_, k) => at(2 * k)).join("L"), colour = css(app.paint[i]);
  return `<path class="region" d="M${border}Z" fill="${colour}" fill-opacity="0.15" stroke="${colour}" stroke-opacity="0.8"/>`;
});
