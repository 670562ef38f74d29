// The ruler: two clicks on points measure their distance, in the picture and in the original.

/** A click on a point while the ruler is on. */
function measure(app, i) {
  app.ruled = app.ruled.length === 1 && app.ruled[0] !== i ? [app.ruled[0], i] : [i];
  fillRuler(app);
  app.draw("ink");
}

/** The distance of two points in the original; null where the page does not know it. */
function distanceBefore(data, i, j) {
  if (!data.before || !ofOriginal(data)) return null;
  if (data.original) return distanceBetween(onHyperboloid(data.original, data.dimension, [i, j]), 0, 1) * data.unit;
  if (data.lengths) return pathLength(data, i, j);
  const at = data.there ? data.there.subarray(i * data.k, (i + 1) * data.k).indexOf(j) : -1;
  return at >= 0 ? data.spans[i * data.k + at] : null;
}

/** The length of the shortest path between two nodes; Infinity if there is none. A node is looked at again when it is found nearer. */
function pathLength({ ends, lengths, n }, i, j) {
  const near = Array.from({ length: n }, () => []), far = new Float64Array(n).fill(Infinity), queue = [i];
  lengths.forEach((length, e) => [0, 1].forEach((end) => near[ends[end][e]].push([ends[1 - end][e], length])));
  far[i] = 0;
  for (const a of queue) for (const [b, length] of near[a]) if (far[a] + length < far[b]) { far[b] = far[a] + length; queue.push(b); }
  return far[j];
}

function fillRuler(app) {
  const { data, ruled: [i, j] } = app, panel = $("measured");
  panel.hidden = !app.on.ruler;
  const name = (row) => h("bdi", { text: clipped(nameOf(data, row)) });
  if (i === undefined) panel.textContent = "Ruler: click two points";
  else if (j === undefined) panel.replaceChildren("Ruler: from ", name(i), " to …");
  else {
    const before = distanceBefore(data, i, j), here = digits2(before === null ? distanceHere(data, i, j) : distanceAsBefore(data, i, j));
    const known = before === null ? (data.before ? ` (in the ${data.before}: not stored)` : "") : "";
    const text = before === null ? here : `${data.before} ${before === Infinity ? "no path" : digits2(before)} → here ${here}`;
    panel.replaceChildren(name(i), " – ", name(j), `: ${text}${known}`);
    $("live").textContent = panel.textContent;
  }
}

function paintRuler(context, app) {
  const { scene, frame, ruled: [i, j] } = app;
  if (j !== undefined) {
    context.beginPath();
    traceArc(context, arcOnScreen(scene, frame, i, j, turnBetween(scene, frame, i, j)));
    context.setLineDash([6, 4]);
    stroke(context, rgba(app.theme.ink), 2);
    context.setLineDash([]);
  }
  for (const k of app.ruled) if (scene.size[k] > 0) ring(context, scene, k, 3.5, 2, rgba(app.theme.ink), css(app.paint[k]));
}
