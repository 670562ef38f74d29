// The state of the page in its address: #on=row (or at=angle,radius)&turn=…&zoom=…&model=… Values that are as at the start are
// left out, and so are very long lists of rows.

const LONGEST_LIST = 6000; // characters: longer addresses are cut by some programs

const few = (value, count) => Number(value.toPrecision(count));
const unless = (usual, value) => (value === usual ? "" : value);
const numberIn = (text, low, high, usual) => {
  const value = text.trim() === "" ? NaN : Number(text);
  return value >= low && value <= high ? value : usual;
};
const countIn = (text, high, usual) => { const i = numberIn(text, 0, high, usual); return Number.isInteger(i) ? i : usual; };
const sameCentre = (a, b) => a.r === b.r && a.ux === b.ux && a.uy === b.uy;
const isPinned = ({ view, pin, data }) => pin >= 0 && sameCentre(view, pointAt(data.points, pin));
const usualDensity = ({ data }) => (data.n >= DENSE ? "on" : "off");

// A row for each part of the address, in the order in which they are set. `get` returns its text, empty if it is as at the start.
// `set` takes any text, and treats an invalid one as empty.
const STATE = {
  time: { get: ({ data }) => unless(data.last, data.time),
    set: (app, text) => app.jumpTo(countIn(text, app.data.last, app.data.pane ?? app.data.last)) },
  theme: { get: (app) => app.chosenTheme || "", set: (app, text) => app.setTheme(["light", "dark"].includes(text) ? text : null) },
  by: { get: (app) => unless(app.colourings[0].key, app.colouring.key), set: (app, text) => app.setColouring(text) },
  scale: { get: (app) => unless("linear", app.scale),
    set: (app, text) => app.setScale(Object.hasOwn(app.colouring.ranges || {}, text) ? text : "linear") },
  select: { get: (app) => writeRows(app.rows), set: (app, text) => app.select(readRows(text, app.data.n)) },
  regions: { get: (app) => (app.on.regions ? "all" : ""), set: (app, text) => app.toggle("regions", text === "all") },
  density: { get: (app) => unless(usualDensity(app), app.on.density ? "on" : "off"),
    set: (app, text) => app.toggle("density", (["on", "off"].includes(text) ? text : usualDensity(app)) === "on") },
  edges: { get: (app) => (app.on.edges || !app.has.edges ? "" : "off"), set: (app, text) => app.toggle("edges", text !== "off") },
  on: { get: (app) => (isPinned(app) ? app.pin : ""),
    set: (app, text) => { const i = rowIn(app, text); app.view = i >= 0 ? { ...pointAt(app.data.points, i), turn: 0 } : { ...app.start }; } },
  at: { get: ({ view, ...app }) => (isPinned({ view, ...app }) || sameCentre(view, app.start) ? ""
    : `${Math.atan2(view.uy, view.ux)},${few(Math.asinh(view.r), 12)}`),
  set: (app, text) => {
    const [angle, radius] = text.split(",").map((part) => numberIn(part, -1e3, 1e3, NaN));
    if (Number.isFinite(angle) && radius >= 0 && radius <= 350) app.view = { r: Math.sinh(radius), ux: Math.cos(angle), uy: Math.sin(angle), turn: 0 };
  } },
  turn: { get: ({ view }) => unless(0, few(view.turn, 10)), set: (app, text) => { app.view.turn = numberIn(text, -10, 10, 0); } },
  zoom: { get: (app) => unless(1, few(app.zoom, 6)), set: (app, text) => { app.zoom = numberIn(text, LEAST_ZOOM, MOST_ZOOM, 1); } },
  model: { get: (app) => unless(app.data.model, app.model), set: (app, text) => app.setModel(Object.hasOwn(MODELS, text) ? text : app.data.model) },
  filter: { get: (app) => writeFilters(app.filters), set: (app, text) => { app.filters = readFilters(text, app.colourings); app.applyFilters(); } },
  pin: { get: (app) => unless(-1, app.pin), set: (app, text) => app.setPin(rowIn(app, text)) },
  refit: { get: (app) => writeRefit(app.refitted),
    set: (app, text) => {
      const refit = ofOriginal(app.data) ? readRefit(text, app.data) : null;
      if (writeRefit(app.refitted) === writeRefit(refit)) return;
      if (refit) app.refit(refit.goal, refit.rows);
      else app.unfit();
    } },
};

const rowIn = ({ data }, text) => countIn(text, data.n - 1, -1);

function writeHash(app) {
  const parts = Object.entries(STATE).map(([key, { get }]) => [key, get(app)]).filter(([, text]) => text !== "");
  return parts.length ? `#${parts.map((part) => part.join("=")).join("&")}` : "";
}

function readHash(app, hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  for (const [key, { set }] of Object.entries(STATE)) set(app, parts.get(key) ?? "");
}

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

/** The inverse of `writeRows`, for n points; invalid and repeated rows are ignored. */
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
