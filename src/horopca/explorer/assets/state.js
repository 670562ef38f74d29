// The view in the address: #on=row (or at=angle,radius)&turn=…&zoom=…&model=…&pin=…&time=…&by=…&scale=…&hide=…&theme=…
// What is as at the start is left out.

const few = (value, count) => Number(value.toPrecision(count));

function writeHash(app) {
  const parts = [], { view } = app;
  const put = (key, value, usual) => { if (value !== usual) parts.push(`${key}=${value}`); };
  const centred = app.pin >= 0 && sameCentre(view, pointAt(app.data.points, app.pin));
  if (centred) parts.push(`on=${app.pin}`);
  else if (!sameCentre(view, app.start)) parts.push(`at=${Math.atan2(view.uy, view.ux)},${few(Math.asinh(view.r), 12)}`);
  if (view.turn && !(sameCentre(view, app.start) && view.turn === app.start.turn)) parts.push(`turn=${few(view.turn, 10)}`);
  put("zoom", few(app.zoom, 6), 1);
  put("model", app.model, app.data.model);
  put("pin", app.pin, -1);
  put("time", app.data.time, app.data.last);
  put("by", app.colouring.key, app.colourings[0].key);
  put("scale", app.scale, "linear");
  put("hide", [...app.hidden].sort((a, b) => a - b).join("."), "");
  put("theme", app.chosenTheme, null);
  return parts.length ? `#${parts.join("&")}` : "";
}

const sameCentre = (a, b) => a.r === b.r && a.ux === b.ux && a.uy === b.uy;

const askedOf = (hash) => { const asked = new URLSearchParams(hash.replace(/^#/, "")); return (key) => asked.get(key) ?? ""; };
const numberIn = (text, low, high, usual) => {
  const value = text.trim() === "" ? NaN : Number(text);
  return value >= low && value <= high ? value : usual;
};
const countIn = (text, high, usual) => { const i = numberIn(text, 0, high, usual); return Number.isInteger(i) ? i : usual; };

/** The picture that the address asks for. */
const timeIn = (hash, { data }) => countIn(askedOf(hash)("time"), data.last, data.last);

/** What the address asks for; anything in it that makes no sense is as at the start. */
function readHash(hash, app) {
  const get = askedOf(hash), number = numberIn, row = (key) => countIn(get(key), app.data.n - 1, -1);
  const on = row("on"), turn = number(get("turn"), -10, 10, 0);
  const [angle, radius] = get("at").split(",").map((part) => number(part, -1e3, 1e3, NaN));
  const placed = Number.isFinite(angle) && radius >= 0 && radius <= 350;
  const view = { r: Math.sinh(radius), ux: Math.cos(angle), uy: Math.sin(angle), turn };
  const colouring = app.colourings.find(({ key }) => key === get("by")) || app.colourings[0];
  const codes = get("hide").split(".").map((part) => number(part, 0, (colouring.labeling?.classes.length || 0) - 1, NaN));
  return {
    view: on >= 0 ? { ...pointAt(app.data.points, on), turn } : placed ? view : { ...app.start },
    zoom: number(get("zoom"), LEAST_ZOOM, MOST_ZOOM, 1),
    model: get("model") in MODELS ? get("model") : app.data.model,
    pin: row("pin"),
    colouring,
    scale: get("scale") in (colouring.ranges || {}) ? get("scale") : "linear",
    hidden: new Set(codes.filter(Number.isInteger)),
    chosenTheme: ["light", "dark"].includes(get("theme")) ? get("theme") : null,
  };
}
