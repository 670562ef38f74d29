// Filters: for each column, classes that are hidden or a range of values to show. A point is shown if it passes all of them.

const BARS = 44; // of a histogram: four pixels each

function addFilters(app) {
  const { data } = app;
  app.filters = new Map(); // from the key of a colouring to a Set of hidden classes or a range [low, high]
  app.shown = new Uint8Array(data.n).fill(1);
  /** The hidden classes of the column that colours the points. */
  app.hidden = () => (app.colouring.labeling && app.filters.get(app.colouring.key)) || new Set();
  const columnOf = (key) => app.colourings.find((one) => one.key === key);

  app.applyFilters = () => {
    app.shown.fill(1);
    for (const [key, filter] of app.filters) {
      const passes = passing(columnOf(key), filter);
      for (let i = 0; i < data.n; i++) if (!passes(i)) app.shown[i] = 0;
    }
    fillLegend(app);
    app.remark();
    app.draw();
  };

  /** Set the filter of a column; an empty set and null remove it. */
  app.setFilter = (key, filter) => {
    if (filter === null || filter.size === 0) app.filters.delete(key);
    else app.filters.set(key, filter);
    app.applyFilters();
  };
  app.toggleClass = (code) => {
    const hidden = new Set(app.hidden());
    if (!hidden.delete(code)) hidden.add(code);
    app.setFilter(app.colouring.key, hidden);
  };
  app.isolate = (code) => {
    app.setFilter(app.colouring.key, new Set([...app.colouring.labeling.classes.keys()].filter((other) => other !== code)));
  };
  /** Show a point: filters that hide it are relaxed. */
  app.reveal = (i) => {
    if (app.shown[i]) return;
    for (const [key, filter] of app.filters) {
      if (passing(columnOf(key), filter)(i)) continue;
      if (filter instanceof Set) filter.delete(columnOf(key).labeling.codes[i]);
      if (!filter.size) app.filters.delete(key);
    }
    app.applyFilters();
  };
}

function passing({ labeling, values }, filter) {
  if (filter instanceof Set) return (i) => !filter.has(labeling.codes[i]);
  const [low, high] = filter;
  return (i) => values[i] >= low && values[i] <= high;
}

/** A bar chart of the values on the ramp. Dragging across it shows the points in that range alone; a click shows all. */
function histogram(app) {
  const { colouring, theme, data } = app, { values, key } = colouring, ends = colouring.ranges[app.scale], counts = new Float64Array(BARS);
  const part = fractionOn(app.scale, ends), value = valueOn(app.scale, ends), ramp = rampOf(data, colouring, app.scale, theme.name);
  for (let i = 0; i < data.n; i++) {
    const at = part(values[i]);
    if (!Number.isNaN(at)) counts[Math.min(BARS - 1, Math.max(0, Math.floor(at * BARS)))]++;
  }
  const canvas = h("canvas", { id: "histogram", role: "img", "aria-label": `Distribution of ${colouring.words}`, width: 4 * BARS, height: 40,
    title: "Drag to show a range of values; click to show all" });
  const most = counts.reduce((a, b) => Math.max(a, b), 1), context = canvas.getContext("2d");
  const paint = ([low, high] = app.filters.get(key) || [-Infinity, Infinity]) => {
    context.clearRect(0, 0, canvas.width, canvas.height);
    counts.forEach((count, k) => {
      const height = count ? Math.max(1, 40 * Math.sqrt(count / most)) : 0, middle = value((k + 0.5) / BARS); // roots: rare values show too
      context.globalAlpha = middle >= low && middle <= high ? 1 : 0.2;
      context.fillStyle = hex(along(ramp, (k + 0.5) / BARS));
      context.fillRect(4 * k, 40 - height, 3, height);
    });
  };
  let from = null;
  const at = (event) => (event.clientX - canvas.getBoundingClientRect().left) / canvas.clientWidth;
  const range = (a, b) => [Math.min(a, b), Math.max(a, b)].map((x) => (x <= 0.01 ? -Infinity : x >= 0.99 ? Infinity : value(x)));
  canvas.addEventListener("pointerdown", (event) => { from = at(event); canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => { if (from !== null) paint(range(from, at(event))); });
  canvas.addEventListener("pointerup", (event) => {
    const start = from;
    from = null;
    app.setFilter(key, Math.abs(at(event) - start) * canvas.clientWidth < CLICK ? null : range(start, at(event)));
  });
  paint();
  return canvas;
}

/** The filters in use, each with a button that removes it, and how many points pass. */
function filterRows(app) {
  if (!app.filters.size) return [];
  const count = app.shown.reduce((sum, one) => sum + one, 0), end = (value, text) => (Number.isFinite(value) ? digits(value) : text);
  const rows = [...app.filters].map(([key, filter]) => {
    const { words, percent: share } = app.colourings.find((one) => one.key === key), scale = share ? 100 : 1;
    const text = filter instanceof Set ? `${counted(filter.size, "class", "classes")} hidden`
      : `${end(scale * filter[0], "lowest")} – ${end(scale * filter[1], "highest")}${share ? " %" : ""}`;
    return h("div", { class: "row filter" }, h("span", { class: "what", text: `${words}: ${text}` }),
      h("button", { class: "all", text: "Show all", "aria-label": `Show all of ${words}`, onclick: () => app.setFilter(key, null) }));
  });
  return [h("p", { class: "note", text: `${count.toLocaleString("en")} of ${app.data.n.toLocaleString("en")} points shown` }), ...rows];
}


const writeFilters = (filters) => [...filters].map(([key, filter]) => `${key}:${filter instanceof Set
  ? [...filter].sort((a, b) => a - b).join(".") : filter.map((end) => (Number.isFinite(end) ? end : "")).join("~")}`).join(";");

/** The inverse of `writeFilters`; invalid parts are ignored. */
function readFilters(text, colourings) {
  const found = new Map();
  for (const part of text.split(";")) {
    const [key, list = ""] = part.split(":"), { labeling, values } = colourings.find((one) => one.key === key) || {};
    const codes = list.split(".").map((code) => countIn(code, (labeling?.classes.length || 0) - 1, -1)).filter((code) => code >= 0);
    const end = (text, open) => (text === "" ? open : numberIn(text, -1e300, 1e300, NaN)), [first, last = ""] = list.split("~");
    const range = [end(first, -Infinity), end(last, Infinity)];
    if (labeling && codes.length) found.set(key, new Set(codes));
    else if (values && list.includes("~") && range[0] <= range[1]) found.set(key, range);
  }
  return found;
}
