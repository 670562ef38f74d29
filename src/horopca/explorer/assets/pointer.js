// Mouse and touch on the plane.

const CLICK = 4; // pixels that the pointer may move during a click
const INSIDE = 1 - 1e-9; // of the radius of the disk: radius 21 in the plane
const DEEP = 19; // radius up to which the equidistant disk can be dragged: farther out, different places round to the same point

/** The point of the Poincaré disk at a place on the screen; places outside the disk are moved just inside. */
function placeInDisk(app, x, y, inside = INSIDE) {
  const { frame } = app;
  let zx = (x - frame.cx) / frame.scale, zy = (frame.cy - y) / frame.scale;
  const size = Math.hypot(zx, zy), most = frame.open ? DEEP / frame.reach : inside;
  if (size > most) [zx, zy] = [(zx / size) * most, (zy / size) * most];
  const [sx, sy] = MODELS[app.model].lift(zx, zy, frame.reach), t = Math.sqrt(1 + sx * sx + sy * sy);
  return [sx / (1 + t), sy / (1 + t)];
}

const placeOnScreen = ({ frame, scene }, i) => [frame.cx + frame.scale * scene.zx[i], frame.cy - frame.scale * scene.zy[i]];
const inDisk = ({ frame }, x, y) => frame.open || Math.hypot(x - frame.cx, y - frame.cy) < frame.scale;

/** Magnify what is under (x, y) by a factor, and keep it there.
 *
 * The disk grows from scale s to s', and what was at distance a/s from its centre is moved to a/s'. The plane is then
 * magnified by s' - a^2/s' there, where it was by s - a^2/s: near the rim mostly by the move, at the centre by the growth.
 */
function zoomAt(app, x, y, factor) {
  const { frame, zoom } = app, away = Math.hypot(x - frame.cx, y - frame.cy);
  if (frame.open) {
    const held = placeInDisk(app, x, y);
    app.setZoom(Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, zoom * factor)));
    return app.look(dragged(app.view, held, placeInDisk(app, x, y)));
  }
  if (away >= frame.scale && away < frame.scale + 12) { // just outside: the rim is meant
    const part = (0.998 * frame.scale) / away;
    return zoomAt(app, frame.cx + part * (x - frame.cx), frame.cy + part * (y - frame.cy), factor);
  }
  const a = away / frame.radius;
  const inside = a < INSIDE * zoom, wanted = inside ? factor * (zoom - (a * a) / zoom) : 0;
  const next = inside ? (wanted + Math.sqrt(wanted * wanted + 4 * a * a)) / 2 : zoom * factor;
  const from = placeInDisk(app, x, y);
  app.setZoom(Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, next)));
  if (inside && a > 0) app.look(dragged(app.view, from, placeInDisk(app, x, y)));
}

function listenToPointers(app, canvas) {
  const held = new Map(); // pointers on the plane
  let drag = null, lastTap = null, lasso = null;
  const place = (event) => [event.clientX, event.clientY];

  /** Take hold of the point under the pointer, or of the place: near the rim a pixel beside a point is far from it. */
  function startDrag(x, y) {
    const i = pick(app.scene, x, y, 6), [px, py] = i < 0 ? [x, y] : placeOnScreen(app, i);
    drag = { view: app.view, from: placeInDisk(app, px, py, i < 0 ? 0.995 : INSIDE), x, y, moved: false };
  }

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
    held.set(event.pointerId, place(event));
    app.halt();
    lasso = held.size === 1 && (event.shiftKey || app.on.lasso) ? { path: place(event), more: event.altKey || event.ctrlKey } : null;
    if (lasso) return;
    if (held.size === 1) startDrag(...place(event));
    else if (drag) drag.moved = true; // two fingers are not a click
  });

  canvas.addEventListener("pointermove", (event) => {
    if (!held.has(event.pointerId)) {
      if (event.pointerType !== "touch") app.setHover(pick(app.scene, ...place(event), 14));
      return;
    }
    if (lasso) {
      lasso.path.push(...place(event));
      app.lasso = lasso.path;
      return app.draw("ink");
    }
    const before = [...held.values()];
    held.set(event.pointerId, place(event));
    if (held.size === 2) return pinch(before, [...held.values()]);
    const [x, y] = place(event);
    if (!drag || held.size > 2) return;
    if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < CLICK) return;
    drag.moved = true;
    canvas.classList.add("held");
    app.look(dragged(drag.view, drag.from, placeInDisk(app, x, y, 0.995)));
  });

  function pinch([a, b], [c, d]) {
    const middle = (p, q) => [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2], length = (p, q) => Math.hypot(p[0] - q[0], p[1] - q[1]);
    app.look(dragged(app.view, placeInDisk(app, ...middle(a, b), 0.995), placeInDisk(app, ...middle(c, d), 0.995)));
    zoomAt(app, ...middle(c, d), length(c, d) / Math.max(1, length(a, b)));
  }

  function release(event) {
    if (!held.delete(event.pointerId)) return;
    canvas.classList.remove("held");
    if (lasso) {
      const { path, more } = lasso;
      lasso = app.lasso = null;
      if (path.length > 4) app.select(insideOf(app.scene, path, app.frame), more);
      else click(path[0], path[1], event);
      return app.draw("ink");
    }
    const [x, y] = place(event);
    if (event.type === "pointerup" && drag && !drag.moved && held.size === 0) click(x, y, event);
    drag = null;
    if (held.size === 1) {
      startDrag(...[...held.values()][0]);
      drag.moved = true;
    }
  }

  function click(x, y, event) {
    const reach = event.pointerType === "touch" ? 26 : 14, i = pick(app.scene, x, y, reach), now = event.timeStamp;
    const double = lastTap && now - lastTap.now < 400 && Math.hypot(x - lastTap.x, y - lastTap.y) < 24;
    lastTap = double ? null : { now, x, y };
    if (app.on.ruler) return i < 0 ? null : measure(app, i);
    if (!double) return app.setPin(i);
    if (i >= 0) app.flyToPoint(i);
    else if (inDisk(app, x, y)) {
      const [zx, zy] = placeInDisk(app, x, y, 0.999), grow = 2 / (1 - zx * zx - zy * zy);
      app.fly(worldPoint(app.view, grow * zx, grow * zy));
    }
  }

  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => app.setHover(-1));
  canvas.addEventListener("wheel", (event) => {
    // inside another page the wheel scrolls that page, until a click here
    if (document.documentElement.classList.contains("framed") && document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    app.halt();
    const delta = event.deltaY * [1, 16, 400][event.deltaMode];
    zoomAt(app, ...place(event), Math.exp(Math.min(0.6, Math.max(-0.6, -delta * (event.ctrlKey ? 0.01 : 0.0025)))));
  }, { passive: false });
}
