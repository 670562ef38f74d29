// The picture: on the page's canvas, in a PNG and in an SVG.

const rgba = ([r, g, b], a = 1) => `rgb(${r} ${g} ${b} / ${a})`;

/** The context of the plane, held where the processor paints: specks are blended into its pixels. */
const newPlane = (canvas) => canvas.getContext("2d", { alpha: false, willReadFrequently: true });

/** The page, the disk and its rings. */
function paintBackdrop(context, scene, frame, theme) {
  context.fillStyle = rgba(frame.open ? theme.disk : theme.page);
  context.fillRect(0, 0, frame.width, frame.height);
  if (!frame.open) {
    context.beginPath();
    context.arc(frame.cx, frame.cy, frame.scale, 0, 2 * Math.PI);
    context.fillStyle = rgba(theme.disk);
    context.fill();
    context.strokeStyle = rgba(theme.line);
    context.lineWidth = 1.2;
    context.stroke();
  }
  context.strokeStyle = rgba(theme.line, 0.45);
  context.lineWidth = 1;
  for (const { pixels } of scene.rings) {
    context.beginPath();
    context.arc(frame.cx, frame.cy, pixels, 0, 2 * Math.PI);
    context.stroke();
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
  context.lineWidth = edges.width;
  for (const [strength, low, high] of [[0.35, 0, 8], [0.6, 8, 20], [1, 20, Infinity]]) {
    context.beginPath();
    for (let e = 0; e < edges.count; e++) {
      if (edges.length[e] < low || edges.length[e] >= high) continue;
      traceArc(context, arcOnScreen(scene, frame, edges.ends[2 * e], edges.ends[2 * e + 1], edges.turn[e]));
    }
    context.strokeStyle = rgba(theme.edge, edges.alpha * strength);
    context.stroke();
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
  const image = context.getImageData(0, 0, width, height), pixels = new Uint32Array(image.data.buffer);
  const strength = 256 * theme.opacity;
  for (let k = from; k < to; k++) {
    const i = marks[k], r = size[i] * grow, x = px[i] * grow + e - 0.5, y = py[i] * grow + f - 0.5, reach = r + 0.5;
    if (size[i] >= SPECK) continue;
    const left = Math.max(0, Math.ceil(x - reach)), right = Math.min(width - 1, Math.floor(x + reach));
    const top = Math.max(0, Math.ceil(y - reach)), bottom = Math.min(height - 1, Math.floor(y + reach));
    const both = colours[i] & 0xff00ff, green = colours[i] & 0xff00; // red and blue are blended in one product
    const whole = r > 0.5 ? (r - 0.5) * (r - 0.5) : 0, most = reach * reach; // squares of where a pixel is covered whole, and not at all
    for (let v = top; v <= bottom; v++) {
      for (let u = left; u <= right; u++) {
        const away = (u - x) * (u - x) + (v - y) * (v - y);
        if (away >= most) continue;
        const cover = away <= whole ? 1 : Math.min(1, reach - Math.sqrt(away));
        const part = (strength * cover + 0.5) | 0, at = v * width + u, old = pixels[at];
        const rb = old & 0xff00ff, g = old & 0xff00;
        pixels[at] = 0xff000000 | ((rb + (Math.imul(both - rb, part) >> 8)) & 0xff00ff) | ((g + (Math.imul(green - g, part) >> 8)) & 0xff00);
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
    context.strokeStyle = rgba(theme.accent, pinned ? 0.9 : 0.6);
    context.lineWidth = 1.5;
    context.stroke();
    for (const j of links) ring(context, scene, j, 2.5, 1.2, rgba(theme.accent), css(colours[j]));
    for (const j of added) if (scene.size[j] > 0) ring(context, scene, j, 2.5, 1.6, rgba(theme.wrong), css(colours[j]));
    ring(context, scene, i, 4.5, 2, rgba(theme.ink), css(colours[i]));
  }
  context.textBaseline = "middle";
  context.lineJoin = "round";
  for (const { text, x, y, fontSize, bold, code, width } of scene.names) {
    context.font = FONT(fontSize, bold);
    context.strokeStyle = rgba(theme.disk, 0.85);
    context.lineWidth = bold ? 4 : 3;
    context.strokeText(text, x, y);
    context.fillStyle = rgba(theme.ink, bold ? 1 : 0.86);
    context.fillText(text, x, y);
    if (code >= 0) { // a class: underlined in its colour
      context.fillStyle = classColours[code];
      context.fillRect(x, y + 0.55 * fontSize, width, 2.5);
    }
  }
  if (lasso) paintLasso(context, lasso, theme);
}

function paintNumbers(context, scene, frame, theme) {
  context.font = FONT(11);
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const { pixels, text } of scene.rings) {
    const y = frame.cy - pixels;
    if (y < frame.free.y + 6 || y > frame.free.y + frame.free.height - 6) continue;
    context.strokeStyle = rgba(theme.disk);
    context.lineWidth = 4;
    context.strokeText(text, frame.cx, y);
    context.fillStyle = rgba(theme.soft);
    context.fillText(text, frame.cx, y);
  }
  context.textAlign = "left";
}

function traceLasso(context, path) {
  context.beginPath();
  for (const [x, y] of path) context.lineTo(x, y);
  context.closePath();
}

function paintLasso(context, path, theme) {
  traceLasso(context, path);
  context.fillStyle = rgba(theme.accent, 0.12);
  context.fill();
  context.strokeStyle = rgba(theme.accent);
  context.lineWidth = 1.5;
  context.stroke();
}

const turnBetween = ({ zx, zy }, frame, i, j) => (MODELS[frame.model].arcs ? halfTurn(zx[i], zy[i], zx[j], zy[j]) : 0);

function ring(context, scene, i, more, width, line, fill) {
  const size = scene.size[i] || 1.5;
  context.beginPath();
  context.arc(scene.px[i], scene.py[i], size + more, 0, 2 * Math.PI);
  context.strokeStyle = line;
  context.lineWidth = width;
  context.stroke();
  context.beginPath();
  context.arc(scene.px[i], scene.py[i], size + more - width - 0.5, 0, 2 * Math.PI);
  context.fillStyle = fill;
  context.fill();
}
