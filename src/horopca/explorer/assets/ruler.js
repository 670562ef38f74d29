// The ruler: two clicks on points measure their distance, in the picture and in the original.

function addRuler(app) {
  app.ruler = []; // the rows of its ends
  app.setRuling = (on) => {
    app.ruling = on;
    app.ruler = [];
    if (on) app.setLassoing(false);
    $("ruler").setAttribute("aria-pressed", String(on));
    $("ink").classList.toggle("lassoing", on);
    fillRuler(app);
    app.draw("ink");
  };
  app.measure = (i) => {
    if (i < 0) return;
    app.ruler = app.ruler.length === 1 && app.ruler[0] !== i ? [app.ruler[0], i] : [i];
    fillRuler(app);
    app.draw("ink");
  };
  $("ruler").addEventListener("click", () => { app.touched(); app.setRuling(!app.ruling); });
}

/** The distance of two points in the original; null where the page does not know it. */
function distanceBefore(data, i, j) {
  if (!data.before || !ofOriginal(data)) return null;
  if (data.original) return distanceOfRows(data.original, data.dimension, i, j) * data.unit;
  if (data.edge_length) return data.edge_length * stepsBetween(data, i, j);
  const at = data.there ? data.there.subarray(i * data.k, (i + 1) * data.k).indexOf(j) : -1;
  return at >= 0 ? data.spans[i * data.k + at] : null;
}

/** The distance of two rows of space parts, of d numbers each. */
function distanceOfRows(points, d, i, j) {
  const a = points.subarray(i * d, (i + 1) * d), b = points.subarray(j * d, (j + 1) * d), r = Math.hypot(...a), q = Math.hypot(...b);
  const turned = r && q ? Math.hypot(...a.map((v, k) => v / r - b[k] / q)) : 0;
  return 2 * Math.asinh(Math.sqrt(gapOf(r, q, turned, 0)) / 2);
}

/** The number of edges between two nodes, by breadth-first search; Infinity if there is no path. */
function stepsBetween({ edges, n }, i, j) {
  const near = Array.from({ length: n }, () => []), steps = new Float64Array(n).fill(Infinity), queue = [i];
  for (let e = 0; e < edges.length; e += 2) { near[edges[e]].push(edges[e + 1]); near[edges[e + 1]].push(edges[e]); }
  steps[i] = 0;
  for (const a of queue) for (const b of near[a]) if (steps[b] === Infinity) { steps[b] = steps[a] + 1; queue.push(b); }
  return steps[j];
}

function fillRuler(app) {
  const { data, ruler: [i, j] } = app, panel = $("measured");
  panel.hidden = !app.ruling;
  if (i === undefined) panel.textContent = "Ruler: click two points";
  else if (j === undefined) panel.textContent = `Ruler: from ${nameOf(data, i)} to …`;
  else {
    const before = distanceBefore(data, i, j), here = digits2(before === null ? distanceHere(data, i, j) : distanceAsBefore(data, i, j));
    const known = before === null ? (data.before ? ` (in the ${data.before}: not stored)` : "") : "";
    const text = before === null ? here : `${data.before} ${before === Infinity ? "no path" : digits2(before)} → here ${here}`;
    panel.textContent = `${nameOf(data, i)} – ${nameOf(data, j)}: ${text}${known}`;
    $("live").textContent = panel.textContent;
  }
}

/** The geodesic of the ruler as drawn, or null. */
const rulerArc = ({ scene, frame, ruler: [i, j] }) => (j === undefined ? null : arcOnScreen(scene, frame, i, j, turnBetween(scene, frame, i, j)));

function paintRuler(context, app) {
  const arc = rulerArc(app);
  if (arc) {
    context.beginPath();
    traceArc(context, arc);
    context.strokeStyle = rgba(app.theme.ink);
    context.lineWidth = 2;
    context.setLineDash([6, 4]);
    context.stroke();
    context.setLineDash([]);
  }
  for (const i of app.ruler) if (app.scene.size[i] > 0) ring(context, app.scene, i, 3.5, 2, rgba(app.theme.ink), css(app.paint[i]));
}
