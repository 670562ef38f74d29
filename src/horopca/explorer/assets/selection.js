// The selection: chosen by the lasso, a class, a search or neighbours. It is highlighted, listed in a table, saved and refitted.

/** The shown points on the pixels that a path on the screen encloses. */
function insideOf({ px, py, size }, path, { width, height }) {
  const context = h("canvas", { width, height }).getContext("2d"), found = [];
  traceOutline(context, path);
  context.fill("evenodd");
  const { data } = context.getImageData(0, 0, width, height);
  for (let i = 0; i < px.length; i++) {
    const x = Math.floor(px[i]), y = Math.floor(py[i]);
    if (size[i] > 0 && x >= 0 && x < width && data[4 * (y * width + x) + 3] > 127) found.push(i);
  }
  return found;
}

function addSelection(app) {
  const { data } = app;
  app.selected = new Uint8Array(data.n);
  app.rows = [];

  app.select = (rows, more = false) => {
    const before = app.rows;
    if (!more) app.selected.fill(0);
    for (const i of rows) app.selected[i] = 1;
    app.rows = [];
    for (let i = 0; i < data.n; i++) if (app.selected[i]) app.rows.push(i);
    if (!before.length && !app.rows.length) return;
    app.noBetter = 0;
    app.tint();
    fillChosen(app);
    $("live").textContent = app.rows.length ? `${counted(app.rows.length, "point", "points")} selected` : "nothing selected";
    if (window !== parent) parent.postMessage({ horopca: "selection", rows: app.rows }, "*"); // to a notebook
  };

  /** Fit the selection into the picture: its centre at the centre, and nine tenths of it inside four fifths of the picture. */
  app.flyToSelection = () => {
    const centre = centreOf(data.points, app.rows), { frame } = app, { ring } = MODELS[app.model];
    const far = app.rows.map((i) => distance(centre, pointAt(data.points, i))).sort((a, b) => a - b);
    const reach = ring(far[Math.floor(0.9 * (far.length - 1))] || 0, frame.reach), fit = frame.radius / frame.plain;
    app.setPin(-1);
    app.fly(centre, { zoom: Math.min(40, Math.max(frame.open ? LEAST_ZOOM : 1, 0.8 / Math.max(reach * fit, 1e-6))) });
  };
}


/** The record of a point in tables and files, as [column, value]: row, name, classes, texts, coordinates, values and measures. */
function recordOf(app, i) {
  const { data } = app, { r, ux, uy } = pointAt(data.points, i), z = (data.unit * r) / (1 + timeOf(r));
  return [["row", i], ...(data.names ? [["name", data.names[i]]] : []), ...labelsOf(data, i),
    ...(data.details || []).map(({ name, texts }) => [name, texts[i]]),
    ["x", z * ux], ["y", z * uy], ["radius", data.radius[i]],
    ...(data.columns || []).map(({ name, values }) => [name, values[i]]),
    ...measuresOf(app).map(({ words, values }) => [words, Number(values[i].toPrecision(3))])]; // a thousandth is stored
}

/** A cell of a CSV file. Text that a spreadsheet would run as a formula starts with an apostrophe. */
function cellOf(value) {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return text !== value || /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function asCSV(app) {
  const records = app.rows.map((i) => recordOf(app, i)), line = (cells) => cells.map(cellOf).join(",");
  return [records[0].map(([column]) => column), ...records.map((record) => record.map(([, value]) => value))].map(line).join("\n") + "\n";
}

const asJSON = (app) => `${JSON.stringify({ title: app.data.title, coordinates: "Poincaré disk",
  columns: recordOf(app, app.rows[0]).map(([column]) => column), // two may have the same name
  points: app.rows.map((i) => recordOf(app, i).map(([, value]) => value)) }, null, 1)}\n`;

const TABLE_ROWS = 500; // in the table; files have all rows

/** The table of the selection, sorted by a column: by numbers as numbers, by texts in their natural order. */
function showTable(app, column = 0, down = false) {
  const records = app.rows.map((i) => recordOf(app, i)), columns = records[0].map(([name]) => name), sign = down ? -1 : 1;
  const compare = (a, b) => (typeof a === "number" ? (Number.isNaN(a) ? 1 : Number.isNaN(b) ? -1 : a - b) : a.localeCompare(b, undefined, { numeric: true }));
  records.sort((a, b) => sign * compare(a[column][1], b[column][1]) || a[0][1] - b[0][1]);
  const head = columns.map((name, k) => h("th", { "aria-sort": k === column ? (down ? "descending" : "ascending") : null },
    h("button", { text: name, title: `Sort by ${name}`, onclick: () => showTable(app, k, k === column && !down) })));
  const rows = records.slice(0, TABLE_ROWS).map((record) => h("tr", { onclick: () => { $("table").close(); app.flyToPoint(record[0][1]); } },
    ...record.map(([, value]) => h("td", { class: typeof value === "number" && "number", text: typeof value === "number" ? digits(value) : value }))));
  const left = records.length - rows.length;
  $("table").querySelector("div").replaceChildren(h("table", {}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows)),
    left ? h("p", { text: `${counted(left, "more row", "more rows")} in the CSV file.` }) : "");
  if (!$("table").open) $("table").showModal();
}

/** Copy a text to the clipboard; returns whether it succeeded. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // no permission, as inside a notebook
    const area = h("textarea", { class: "sr", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

const saveText = (app, text, suffix, type) => download(new Blob([text], { type }), fileName(app, suffix, "selection"));

/** The panel with the number of selected points, and buttons for them. */
function fillChosen(app) {
  const { data, rows } = app, panel = $("chosen");
  panel.hidden = !rows.length && !app.refitted && !app.refitting && !app.noBetter;
  fillRefine(app);
  const button = (id, text, act, title) => h("button", { id, text, title, onclick: act });
  const names = () => rows.map((i) => nameOf(data, i)).join("\n");
  const copied = async ({ target }) => {
    const done = await copyText(names());
    target.style.minWidth = `${target.offsetWidth}px`; // the buttons after it stay where they are
    target.textContent = done ? "Copied" : "Not copied";
    $("live").textContent = done ? "names copied" : "names could not be copied";
  };
  panel.replaceChildren(...(panel.hidden ? [] : [
    rows.length ? h("p", { class: "count" }, h("b", { text: counted(rows.length, "point", "points") }), " selected") : null,
    rows.length ? h("div", { class: "acts" },
      button("fly", "Fly there", () => app.flyToSelection(), "Centre the selection and zoom to it"),
      button("rows", "Table", () => showTable(app), "Show the selection as a table"),
      button("copy", "Copy names", copied, "Copy the names, one per line"),
      button("csv", "CSV", () => saveText(app, asCSV(app), "csv", "text/csv"), "Save the row numbers, names, classes, coordinates and values of the selection"),
      button("json", "JSON", () => saveText(app, asJSON(app), "json", "application/json"), "Save the same as JSON"),
      button("clear", "Clear", () => app.select([]), "Select nothing (Esc)")) : null,
    ...refitRows(app),
  ].filter(Boolean)));
  app.resize();
}
