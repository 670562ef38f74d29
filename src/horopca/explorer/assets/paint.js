// The picture: on the page's canvas, in a PNG and in an SVG.

const rgba = ([r, g, b], a = 1) => `rgb(${r} ${g} ${b} / ${a})`;

/** What moves with the view: the disk, edges and points. */
function paintPlane(context, { frame, theme, scene, paint }) {
  paintBackdrop(context, scene, frame, theme);
  paintEdges(context, scene, frame, theme);
  paintPoints(context, scene, theme, paint);
}

/** The context of the plane, held where the processor paints: specks are blended into its pixels. */
const newPlane = (canvas) => canvas.getContext("2d", { alpha: false, willReadFrequently: true });

/** Begin the path of a circle. */
function traceCircle(context, x, y, r) {
  context.beginPath();
  context.arc(x, y, r, 0, 2 * Math.PI);
}

function stroke(context, colour, width) {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke();
}

function fill(context, colour) {
  context.fillStyle = colour;
  context.fill();
}

/** Write a text over a halo of the colour of the disk, so that it can be read over lines. */
function write(context, text, x, y, colour, halo, width) {
  context.strokeStyle = halo;
  context.lineWidth = width;
  context.strokeText(text, x, y);
  context.fillStyle = colour;
  context.fillText(text, x, y);
}

/** The page, the disk and its rings. */
function paintBackdrop(context, scene, frame, theme) {
  context.fillStyle = rgba(frame.open ? theme.disk : theme.page);
  context.fillRect(0, 0, frame.width, frame.height);
  if (!frame.open) {
    traceCircle(context, frame.cx, frame.cy, frame.scale);
    fill(context, rgba(theme.disk));
    stroke(context, rgba(theme.line), 1.2);
  }
  for (const { pixels } of scene.rings) {
    traceCircle(context, frame.cx, frame.cy, pixels);
    stroke(context, rgba(theme.line, 0.45), 1);
  }
}

function traceArc(context, arc) {
  context.moveTo(arc.ax, arc.ay);
  if (arc.path) for (let k = 2; k < arc.path.length; k += 2) context.lineTo(arc.path[k], arc.path[k + 1]);
  else if (arc.r) context.arc(arc.x, arc.y, arc.r, arc.from, arc.to, arc.side > 0);
  else context.lineTo(arc.bx, arc.by);
}

function paintEdges(context, scene, frame, theme) {
  const { edges } = scene;
  for (const [strength, low, high] of [[0.35, 0, 8], [0.6, 8, 20], [1, 20, Infinity]]) {
    context.beginPath();
    for (let e = 0; e < edges.count; e++) {
      if (edges.length[e] < low || edges.length[e] >= high) continue;
      traceArc(context, arcOnScreen(scene, frame, edges.ends[2 * e], edges.ends[2 * e + 1], edges.turn[e]));
    }
    stroke(context, rgba(theme.edge, edges.alpha * strength), edges.width);
  }
}

const CROWD = 2000; // marks from which the small ones are blended into the pixels: a canvas takes a microsecond for each

/** The points in their order of painting; in a crowd first the specks of those below, then their large marks, then those above. */
function paintPoints(context, scene, theme, colours) {
  const { marks, marked, size, below } = scene, large = new Uint32Array(marked), crowded = marked > CROWD && context.getImageData; // SVG has no pixels
  for (const [from, to] of [[0, below], [below, marked]]) {
    let count = 0;
    for (let k = from; k < to; k++) if (!crowded || size[marks[k]] >= SPECK) large[count++] = marks[k];
    if (count < to - from) paintSpecks(context, scene, theme, colours, from, to);
    paintLarge(context, scene, theme, colours, large.subarray(0, count));
  }
}

function paintLarge(context, { px, py, size }, theme, colours, rows) {
  let last = -1;
  context.globalAlpha = theme.opacity;
  context.strokeStyle = rgba(theme.disk);
  context.lineWidth = 1;
  for (const i of rows) {
    if (colours[i] !== last) context.fillStyle = css((last = colours[i]));
    context.beginPath();
    context.arc(px[i], py[i], size[i], 0, 2 * Math.PI);
    context.fill();
    if (size[i] > 3) context.stroke();
  }
  context.globalAlpha = 1;
}

/** Small round marks, each pixel by how much of it they cover. */
function paintSpecks(context, { marks, px, py, size }, theme, colours, from, to) {
  const { a: grow, e, f } = context.getTransform(), { width, height } = context.canvas;
  const image = context.getImageData(0, 0, width, height), { data } = image;
  for (let k = from; k < to; k++) {
    const i = marks[k], x = px[i] * grow + e - 0.5, y = py[i] * grow + f - 0.5, reach = size[i] * grow + 0.5;
    if (size[i] >= SPECK) continue;
    const red = colours[i] & 255, green = (colours[i] >> 8) & 255, blue = (colours[i] >> 16) & 255;
    const left = Math.max(0, Math.ceil(x - reach)), right = Math.min(width - 1, x + reach), bottom = Math.min(height - 1, y + reach);
    for (let v = Math.max(0, Math.ceil(y - reach)); v <= bottom; v++) {
      for (let u = left; u <= right; u++) {
        const away = reach - Math.sqrt((u - x) * (u - x) + (v - y) * (v - y)), at = 4 * (v * width + u);
        if (away <= 0) continue;
        const part = theme.opacity * Math.min(1, away);
        data[at] += part * (red - data[at]);
        data[at + 1] += part * (green - data[at + 1]);
        data[at + 2] += part * (blue - data[at + 2]);
      }
    }
  }
  context.putImageData(image, 0, 0);
}

/** What lies over the points: numbers of rings, geodesics to the neighbours of the marked points, names, the lasso. */
function paintInk(context, app, lasso) {
  const { scene, frame, theme, marks, paint: colours, colouring } = app, classColours = colouring.labeling?.[theme.name];
  context.lineCap = "round";
  paintNumbers(context, scene, frame, theme);
  paintThumbs(context, app);
  paintRuler(context, app);
  for (const { i, links, added, pinned } of marks) {
    context.beginPath();
    for (const j of links) traceArc(context, arcOnScreen(scene, frame, i, j, turnBetween(scene, frame, i, j)));
    stroke(context, rgba(theme.accent, pinned ? 0.9 : 0.6), 1.5);
    for (const j of links) ring(context, scene, j, 2.5, 1.2, rgba(theme.accent), css(colours[j]));
    for (const j of added) if (scene.size[j] > 0) ring(context, scene, j, 2.5, 1.6, rgba(theme.wrong), css(colours[j]));
    ring(context, scene, i, 4.5, 2, rgba(theme.ink), css(colours[i]));
  }
  context.textBaseline = "middle";
  context.lineJoin = "round";
  for (const { text, x, y, fontSize, bold, code, width } of scene.names) {
    context.font = FONT(fontSize, bold);
    write(context, text, x, y, rgba(theme.ink, bold ? 1 : 0.86), rgba(theme.disk, 0.85), bold ? 4 : 3);
    if (code >= 0) { // a class: underlined in its colour
      context.fillStyle = classColours[code];
      context.fillRect(x, y + 0.55 * fontSize, width, 2.5);
    }
  }
  if (!lasso) return;
  traceOutline(context, lasso);
  fill(context, rgba(theme.accent, 0.12));
  stroke(context, rgba(theme.accent), 1.5);
}

function paintNumbers(context, scene, frame, theme) {
  context.font = FONT(11);
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const { pixels, text } of scene.rings) {
    const y = frame.cy - pixels;
    if (y < frame.free.y + 6 || y > frame.free.y + frame.free.height - 6) continue;
    write(context, text, frame.cx, y, rgba(theme.soft), rgba(theme.disk), 4);
  }
  context.textAlign = "left";
}

/** Begin the path of a closed line [x, y, x, y, ...]. */
function traceOutline(context, path) {
  context.beginPath();
  for (let k = 0; k < path.length; k += 2) context.lineTo(path[k], path[k + 1]);
  context.closePath();
}

const turnBetween = ({ zx, zy }, frame, i, j) => (MODELS[frame.model].arcs ? halfTurn(zx[i], zy[i], zx[j], zy[j]) : 0);

function ring(context, scene, i, more, width, line, inside) {
  const size = scene.size[i] || 1.5;
  traceCircle(context, scene.px[i], scene.py[i], size + more);
  stroke(context, line, width);
  traceCircle(context, scene.px[i], scene.py[i], size + more - width - 0.5);
  fill(context, inside);
}
