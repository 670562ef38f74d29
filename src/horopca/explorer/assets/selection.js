// A selection of points: made by the lasso, a class, a search or neighbours; lit while the rest is dim; carried away.

/** The shown points inside a path on the screen. */
function insideOf({ px, py, size }, path) {
  const found = [];
  for (let i = 0; i < px.length; i++) {
    if (size[i] === 0) continue;
    let inside = false;
    for (let k = 0, l = path.length - 1; k < path.length; l = k++) {
      const [ax, ay] = path[k], [bx, by] = path[l];
      if (ay > py[i] !== by > py[i] && px[i] < ((bx - ax) * (py[i] - ay)) / (by - ay) + ax) inside = !inside;
    }
    if (inside) found.push(i);
  }
  return found;
}

function addSelection(app) {
  const { data } = app;
  app.selected = new Uint8Array(data.n);
  app.rows = [];
  app.watchers = [];

  app.select = (rows, more = false) => {
    if (!more) app.selected.fill(0);
    for (const i of rows) app.selected[i] = 1;
    app.rows = [];
    for (let i = 0; i < data.n; i++) if (app.selected[i]) app.rows.push(i);
    app.touched();
    app.tint();
    fillChosen(app);
    $("live").textContent = app.rows.length ? `${counted(app.rows.length, "point", "points")} selected` : "nothing selected";
    for (const watch of app.watchers) watch(app.rows);
  };
  app.clear = () => app.select([]);

  /** Frame the selection: its centre at the centre, and nine tenths of it inside four fifths of the picture. */
  app.flyToSelection = () => {
    const centre = centreOf(data.points, app.rows), { frame } = app, { ring } = MODELS[app.model];
    const far = app.rows.map((i) => distance(centre, pointAt(data.points, i))).sort((a, b) => a - b);
    const reach = ring(far[Math.floor(0.9 * (far.length - 1))] || 0, frame.reach);
    app.setPin(-1);
    app.fly(centre, { zoom: Math.min(40, Math.max(frame.open ? LEAST_ZOOM : 1, 0.8 / Math.max(reach, 1e-6))) });
  };
}

// ---------------------------------------------------------------- taking it along

const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function asCSV({ data, rows }) {
  const head = ["row", "name", ...data.labelings.map(({ name }) => name), ...(data.details || []).map(({ name }) => name)];
  const line = (i) => [i, data.names ? data.names[i] : "", ...textsOf(data, i).slice(1)];
  return [head, ...rows.map(line)].map((cells) => cells.map((cell) => quoted(String(cell))).join(",")).join("\n") + "\n";
}

const asJSON = ({ data, rows }) => `${JSON.stringify({ title: data.title, rows, names: rows.map((i) => nameOf(data, i)) }, null, 1)}\n`;

/** Whether it could be copied. */
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

const saveText = (app, text, suffix, type) => download(new Blob([text], { type }), fileName(app, suffix));

/** What is selected, and what can be done with it. */
function fillChosen(app) {
  const { data, rows } = app, panel = $("chosen");
  panel.hidden = !rows.length && !app.refitted;
  if (panel.hidden) return panel.replaceChildren();
  const button = (id, text, act, title) => h("button", { id, text, title, onclick: act });
  const names = () => rows.map((i) => nameOf(data, i)).join("\n");
  const copied = async ({ target }) => {
    const done = await copyText(names());
    target.style.minWidth = `${target.offsetWidth}px`; // the buttons after it stay where they are
    target.textContent = done ? "Copied" : "Not copied";
    $("live").textContent = done ? "names copied" : "names could not be copied";
  };
  panel.replaceChildren(...[
    rows.length ? h("p", { class: "count" }, h("b", { text: counted(rows.length, "point", "points") }), " selected") : null,
    rows.length ? h("div", { class: "acts" },
      button("fly", "Fly there", () => app.flyToSelection(), "Frame the selection"),
      button("copy", "Copy names", copied, "Copy the names, one to a line"),
      button("csv", "CSV", () => saveText(app, asCSV(app), "csv", "text/csv"), "Save rows, names and labels"),
      button("json", "JSON", () => saveText(app, asJSON(app), "json", "application/json"), "Save rows and names"),
      button("clear", "Clear", () => app.clear(), "Select nothing (Esc)")) : null,
    ...refitRows(app),
  ].filter(Boolean));
  app.resize();
}
