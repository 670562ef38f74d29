// The view in the address: #on=row (or at=angle,radius)&turn=…&zoom=…&model=…&pin=…&time=…&by=…&scale=…&filter=…&theme=…
// &select=rows&refit=goal,rows&regions=all&density=on&edges=off. What is as at the start is left out, and so are very long lists of rows.

const LONGEST_LIST = 6000; // characters: longer addresses are cut by some programs

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
  put("filter", writeFilters(app.filters), "");
  put("theme", app.chosenTheme, null);
  put("select", writeRows(app.rows), "");
  put("refit", writeRefit(app.refitted), "");
  put("regions", app.on.regions ? "all" : "", "");
  put("density", app.on.density ? "on" : "off", app.data.n >= DENSE ? "on" : "off");
  put("edges", app.on.edges || !app.has.edges ? "" : "off", "");
  return parts.length ? `#${parts.join("&")}` : "";
}

const sameCentre = (a, b) => a.r === b.r && a.ux === b.ux && a.uy === b.uy;

/** Rows in ascending order as runs in base 36, such as 3-9.c; empty where that is too long for an address. */
function writeRows(rows) {
  const runs = [];
  let length = 0;
  for (let k = 0; k < rows.length && length <= LONGEST_LIST; k++) {
    const first = rows[k];
    while (rows[k + 1] === rows[k] + 1) k++;
    const run = first === rows[k] ? first.toString(36) : `${first.toString(36)}-${rows[k].toString(36)}`;
    length += run.length + 1;
    runs.push(run);
  }
  return length > LONGEST_LIST ? "" : runs.join(".");
}

/** The rows of such a text, those of n points alone, each once. */
function readRows(text, n) {
  const found = new Set();
  for (const run of text.split(".")) {
    const [, first, last = first] = /^([0-9a-z]{1,8})(?:-([0-9a-z]{1,8}))?$/.exec(run) || [];
    if (first === undefined) continue;
    for (let i = parseInt(first, 36), end = Math.min(parseInt(last, 36), n - 1); i <= end; i++) found.add(i);
  }
  return [...found].sort((a, b) => a - b);
}

function writeRefit(refit) {
  const rows = refit ? writeRows(refit.rows) : "";
  return rows ? `${refit.goal},${rows}` : "";
}

/** The refit in the address, or null. */
function readRefit(text, { original, n }) {
  const [goal, list = ""] = text.split(","), rows = readRows(list, n);
  return original && (Object.hasOwn(GOALS, goal) || goal === REFINE) && rows.length >= FEWEST ? { goal, rows } : null;
}

const partsOf = (hash) => { const parts = new URLSearchParams(hash.replace(/^#/, "")); return (key) => parts.get(key) ?? ""; };
const numberIn = (text, low, high, usual) => {
  const value = text.trim() === "" ? NaN : Number(text);
  return value >= low && value <= high ? value : usual;
};
const countIn = (text, high, usual) => { const i = numberIn(text, 0, high, usual); return Number.isInteger(i) ? i : usual; };

/** The number of the picture in the address. */
const timeIn = (hash, { data }) => countIn(partsOf(hash)("time"), data.last, data.pane ?? data.last);

/** The state in the address; parts that are not valid are as at the start. */
function readHash(hash, app) {
  const get = partsOf(hash), number = numberIn, { data } = app, row = (key) => countIn(get(key), data.n - 1, -1);
  const on = row("on"), turn = number(get("turn"), -10, 10, 0);
  const [angle, radius] = get("at").split(",").map((part) => number(part, -1e3, 1e3, NaN));
  const given = Number.isFinite(angle) && radius >= 0 && radius <= 350;
  const view = { r: Math.sinh(radius), ux: Math.cos(angle), uy: Math.sin(angle), turn };
  const colouring = app.colourings.find(({ key }) => key === get("by")) || app.colourings[0];
  return {
    view: on >= 0 ? { ...pointAt(data.points, on), turn } : given ? view : { ...app.start },
    zoom: number(get("zoom"), LEAST_ZOOM, MOST_ZOOM, 1),
    model: Object.hasOwn(MODELS, get("model")) ? get("model") : data.model,
    pin: row("pin"),
    colouring,
    scale: Object.hasOwn(colouring.ranges || {}, get("scale")) ? get("scale") : "linear",
    filters: readFilters(get("filter"), app.colourings),
    chosenTheme: ["light", "dark"].includes(get("theme")) ? get("theme") : null,
    selected: readRows(get("select"), data.n),
    refit: data.time === data.last ? readRefit(get("refit"), data) : null,
    on: { regions: get("regions") === "all", density: data.n >= DENSE ? get("density") !== "off" : get("density") === "on",
      edges: get("edges") !== "off" },
  };
}
