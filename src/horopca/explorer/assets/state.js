// The view in the address: #at=angle,radius&turn=…&zoom=…&model=…&pin=…&by=…&hide=…&theme=…
// What is as at the start is left out.

function writeHash(app) {
  const parts = [], { view } = app;
  const put = (key, value, usual) => { if (value !== usual) parts.push(`${key}=${value}`); };
  if (!sameView(view, app.start)) parts.push(`at=${Math.atan2(view.uy, view.ux)},${Math.asinh(view.r)}`, `turn=${view.turn}`);
  put("zoom", Number(app.zoom.toPrecision(6)), 1);
  put("model", app.model, "poincare");
  put("pin", app.pin, -1);
  put("by", app.colouring.key, app.colourings[0].key);
  put("hide", [...app.hidden].sort((a, b) => a - b).join("."), "");
  put("theme", app.chosenTheme, null);
  return parts.length ? `#${parts.join("&")}` : "";
}

const sameView = (a, b) => a.r === b.r && a.ux === b.ux && a.uy === b.uy && a.turn === b.turn;

/** What the address asks for; anything in it that makes no sense is as at the start. */
function readHash(hash, app) {
  const asked = new URLSearchParams(hash.replace(/^#/, "")), get = (key) => asked.get(key) ?? "";
  const number = (text, low, high, usual) => {
    const value = text.trim() === "" ? NaN : Number(text);
    return value >= low && value <= high ? value : usual;
  };
  const [angle, radius] = get("at").split(",").map((part) => number(part, -1e3, 1e3, NaN));
  const placed = Number.isFinite(angle) && radius >= 0 && radius <= 350;
  const view = { r: Math.sinh(radius), ux: Math.cos(angle), uy: Math.sin(angle), turn: number(get("turn"), -10, 10, 0) };
  const codes = get("hide").split(".").map((part) => number(part, 0, (app.data.classes || []).length - 1, NaN));
  const pin = number(get("pin"), 0, app.data.n - 1, -1);
  return {
    view: placed ? view : { ...app.start },
    zoom: number(get("zoom"), LEAST_ZOOM, MOST_ZOOM, 1),
    model: get("model") in MODELS ? get("model") : "poincare",
    pin: Number.isInteger(pin) ? pin : -1,
    colouring: app.colourings.find(({ key }) => key === get("by")) || app.colourings[0],
    hidden: new Set(codes.filter(Number.isInteger)),
    chosenTheme: ["light", "dark"].includes(get("theme")) ? get("theme") : null,
  };
}
