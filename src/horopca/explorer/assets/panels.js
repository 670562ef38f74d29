// The panels around the plane. Names and labels become text, never markup: everything is built with textContent.

const $ = (id) => document.getElementById(id);

function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "text") element.textContent = value;
    else if (value || value === "" || value === 0) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

function dot(colour) {
  const element = h("span", { class: "dot" });
  element.style.background = colour;
  return element;
}

/** A list to choose from: `choices` are [value, text]. */
const choice = (id, label, choices, chosen, act) =>
  h("select", { id, "aria-label": label, onchange: ({ target }) => act(target.value) },
    ...choices.map(([value, text]) => h("option", { value, text, selected: value === chosen })));

const counted = (n, one, many) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

function fillHead(app) {
  const { data } = app, parts = [counted(data.n, "point", "points")];
  const classes = data.labelings[0]?.classes.filter((text) => text !== data.unlabelled);
  if (classes) parts.push(counted(classes.length, "class", "classes"));
  if (data.edges) parts.push(counted(data.edgeCount, "edge", "edges"));
  if (app.has.film) parts.push(`${data.last + 1} pictures`);
  $("title").textContent = $("title").title = data.title;
  $("summary").textContent = parts.join(" · ");
  $("total").textContent = data.total || "";
  $("search").placeholder = data.names ? "Find a name, or /regular expression/" : "Find a point by its number";
  const hand = !document.documentElement.classList.contains("framed") ? "scroll to zoom, double-click" : "click and then scroll to zoom, double-click";
  const fingers = matchMedia("(pointer: coarse)").matches, pickClass = data.labelings.length ? "a class or " : "";
  $("hint").textContent = `Drag to move, ${fingers ? "pinch to zoom, double-tap" : hand} to fly there. ` +
    (fingers ? "Select with the lasso." : `Click ${pickClass}the lasso to select.`);
  for (const element of document.querySelectorAll("[data-needs]")) element.hidden = !app.has[element.dataset.needs];
  for (const element of document.querySelectorAll(".before")) element.textContent = data.before;
  $("search").setAttribute("aria-label", $("search").placeholder);
  $("ink").setAttribute("aria-label", `The hyperbolic plane with ${parts.join(", ")}`);
}


const MOST_FOUND = 200; // results in the list

function listenToSearch(app) {
  const input = $("search"), list = $("results");
  let found = [], options = [], at = -1, none = "";

  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function leave() { close(); input.blur(); }

  function mark(k) {
    at = k;
    [...list.querySelectorAll("[role=option]")].forEach((option, j) => {
      option.setAttribute("aria-selected", String(j === k));
      if (j === k) option.scrollIntoView({ block: "nearest" });
    });
    if (k >= 0) input.setAttribute("aria-activedescendant", `result-${k}`);
  }

  function point(i) {
    const label = labelsOf(app.data, i)[0];
    return { act: () => { leave(); app.flyToPoint(i); }, parts: [dot(css(app.colours[i])),
      h("span", { class: "what", text: nameOf(app.data, i) }), label ? h("span", { class: "class", text: label[1] }) : null] };
  }

  function fill() {
    options = found.slice(0, MOST_FOUND).map(point);
    const points = options.length, all = `Select ${found.length === 1 ? "it" : `all ${found.length.toLocaleString("en")}`}`;
    if (points) options.push({ act: () => { leave(); app.select(found); }, parts: [h("span", { class: "what", text: all })] });
    list.replaceChildren(...options.map(({ parts, act }, k) => h("li", { role: "option", id: `result-${k}`, class: k >= points && "act", onclick: act }, ...parts)));
    if (input.value.trim() && !found.length) list.append(h("li", { class: "note", text: none }));
    list.hidden = !input.value.trim();
    input.setAttribute("aria-expanded", String(!list.hidden));
  }

  function update() {
    none = "Nothing by that name";
    try { found = searchTexts(app.data, input.value); } catch { [found, none] = [[], "Not a regular expression"]; }
    fill();
    mark(found.length ? 0 : -1);
  }

  input.addEventListener("input", update);
  input.addEventListener("focus", () => { input.select(); if (input.value.trim()) update(); });
  input.addEventListener("blur", () => setTimeout(close, 0));
  list.addEventListener("pointerdown", (event) => event.preventDefault()); // or the input would lose the focus first
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && options.length) mark((at + step + options.length) % options.length);
    else if (event.key === "Enter") { if (at >= 0 && at < options.length) options[at].act(); }
    else if (event.key === "Escape") { input.value = ""; close(); input.blur(); $("ink").focus(); }
    else return;
    event.preventDefault();
  });
}


/** One tab stop for a list of rows of buttons: the arrow keys move between rows and inside them. */
function rove(list) {
  const rows = () => [...list.querySelectorAll(".row, li")].map((row) => [...row.querySelectorAll("button")]);
  const all = () => [...list.querySelectorAll("button")];
  all().forEach((button, k) => { button.tabIndex = k ? -1 : 0; });
  if (list.dataset.roving) return;
  list.dataset.roving = "yes";
  list.addEventListener("keydown", (event) => {
    const grid = rows(), row = grid.findIndex((buttons) => buttons.includes(document.activeElement));
    if (row < 0) return;
    const column = grid[row].indexOf(document.activeElement), last = grid.length - 1;
    const [r, c] = { ArrowDown: [Math.min(row + 1, last), column], ArrowUp: [Math.max(row - 1, 0), column], Home: [0, 0],
      End: [last, 0], ArrowRight: [row, column + 1], ArrowLeft: [row, column - 1] }[event.key] || [];
    if (r === undefined) return;
    event.preventDefault();
    const next = grid[r][Math.min(Math.max(c, 0), grid[r].length - 1)];
    for (const button of all()) button.tabIndex = button === next ? 0 : -1;
    next.focus();
  });
}

function fillLegend(app) {
  const { colouring } = app, scale = $("scale"), top = scale.scrollTop;
  const buttons = () => [...scale.querySelectorAll("button")], focused = buttons().indexOf(document.activeElement);
  $("colour").replaceChildren(...app.colourings.map(({ key, words, trust }) =>
    h("option", { value: key, text: words, disabled: Boolean(trust && !app.isMeasured()), selected: key === colouring.key })));
  const rows = colouring.labeling ? classRows(app) : colouring.values ? rampRows(app) : noteRow(colouring);
  scale.replaceChildren(...rows, ...filterRows(app));
  rove(scale);
  scale.scrollTop = top;
  buttons()[focused]?.focus();
}

/** A row for each class: a click selects its points, hovering highlights them. */
function classRows(app) {
  const { classes, counts, codes } = app.colouring.labeling, colours = app.colouring.labeling[app.theme.name];
  const members = (code) => { const rows = []; codes.forEach((own, i) => { if (own === code) rows.push(i); }); return rows; };
  return classes.map((text, code) => {
    const off = app.hidden().has(code);
    return h("div", { class: off ? "row off" : "row", onpointerenter: () => app.light(code), onpointerleave: () => app.light(-1) },
      h("button", { class: "pick", title: `Select ${text}`, onclick: (event) => app.select(members(code), event.shiftKey || event.ctrlKey),
        onfocus: (event) => event.target.matches(":focus-visible") && app.light(code), onblur: () => app.light(-1) },
      dot(colours[code]), h("span", { class: "what", text }), h("span", { class: "count", text: counts[code].toLocaleString("en") })),
      h("span", { class: "more" },
        h("button", { class: "only", "aria-label": `only ${text}`, text: "only", onclick: () => app.isolate(code) }),
        h("button", { class: "toggle", "aria-pressed": String(!off), "aria-label": `show ${text}`, text: off ? "show" : "hide",
          onclick: () => app.toggleClass(code) })));
  });
}

function rampRows(app) {
  const { colouring, theme, data } = app, bar = h("div", { class: "bar" });
  bar.style.background = `linear-gradient(90deg, ${rampOf(data, colouring, app.scale, theme.name).join(", ")})`;
  const ends = colouring.ranges[app.scale].map((value) => h("span", { text: colouring.percent ? percent(value).replace(".0", "") : digits(value) }));
  const scales = Object.keys(colouring.ranges).map((scale) => [scale, scale]);
  const scale = scales.length < 2 ? null : choice("scaling", "Scale", scales, app.scale, app.setScale);
  return [histogram(app), bar, h("div", { class: "ends" }, ...ends), scale, ...noteRow(colouring)].filter(Boolean);
}

const noteRow = ({ note }) => (note ? [h("p", { class: "note", text: note })] : []);


function fillCard(app) {
  const { data } = app, mark = app.marks[app.marks.length - 1], card = $("card");
  card.hidden = !mark;
  if (!mark) return;
  const { i, pinned } = mark, facts = [["Radius", digits(data.radius[i]), "Distance from the origin"]];
  for (const { name, values } of data.columns || []) facts.push([name, digits(values[i]), ""]);
  const known = measuresOf(app), plain = { false: `near here, but not in the ${data.before}`,
    lost: `near in the ${data.before}, but not here`, distortion: "change of the distances to the nearest" };
  for (const one of known.filter(({ key }) => plain[key])) {
    const byRank = known.find(({ key }) => key === { false: "trust", lost: "continuity" }[one.key]);
    const more = byRank ? ` ${byRank.words} ${percent(byRank.values[i])}: ${byRank.note}` : "";
    facts.push([one.words, written(one.values[i], one), one.note + more, plain[one.key]]);
  }
  const close = { class: "close", "aria-label": "Unpin", title: "Unpin (Esc)", text: "✕", onclick: () => app.setPin(-1) };
  const coloured = app.colouring.labeling ? css(app.colours[i]) : null;
  card.replaceChildren(...[
    h("h2", { text: nameOf(data, i) }),
    ...labelsOf(data, i).map(([, label], k) => h("p", { class: "of" }, k === 0 && coloured ? dot(coloured) : null, h("span", { text: label }))),
    data.images && data.images[i] ? h("img", { src: data.images[i], alt: "" }) : null,
    ...(data.details || []).filter(({ texts }) => texts[i]).map(({ name, texts }) => detailRow(name, texts[i])),
    h("dl", {}, ...facts.flatMap(([what, value, title, plain]) => [
      h("dt", { title }, what, plain ? h("small", { text: plain }) : null), h("dd", { text: value, title })])),
    ...neighbourRows(app, mark),
    pinned ? h("button", close) : null,
  ].filter(Boolean));
  for (const list of card.querySelectorAll("ol")) rove(list);
}

/** A text about the point; web addresses become links. */
function detailRow(name, text) {
  const link = /^https?:\/\/\S+$/.test(text);
  const value = link ? h("a", { href: text, target: "_blank", rel: "noopener noreferrer", text: text.replace(/^https?:\/\//, "") }) : text;
  return h("p", { class: "detail" }, h("b", { text: `${name} ` }), value);
}

/** Neighbours as buttons: those in the original, with both distances and lost ones marked, and those in the picture, with added
 * ones marked. */
function neighbourRows(app, { i, here, there, added, lost, pinned }) {
  const { data } = app, before = data.before;
  const row = (j, far, mark) => h("li", { class: `${mark ? "changed" : ""}${app.shown[j] ? "" : " off"}` }, h("button", { onclick: () => app.flyToPoint(j) },
    dot(css(app.colours[j])), h("span", { class: "what", text: nameOf(data, j) }),
    mark ? h("span", { class: "mark", text: mark }) : null, h("span", { class: "far", text: far })));
  const head = (...texts) => h("h3", {}, ...texts.map((text) => h("span", { text })));
  const list = (kind, rows) => h("ol", { class: kind }, ...rows);
  const out = [];
  if (there) {
    out.push(head(`Nearest in the ${before}`, `${before} → here`), list("there", there.map(([j, d]) =>
      row(j, `${digits2(d)} → ${digits2(distanceAsBefore(data, i, j))}`, lost.has(j) && "lost"))));
    if (data.graph_scale) out.push(h("p", { class: "note", text: `Here: distances in the picture divided by ${digits2(data.graph_scale)}, the scale of the picture: the length of 1 in the graph.` }));
  }
  if (here.length) {
    out.push(head(there ? "Nearest in this picture" : "Nearest", "distance"),
      list("here", here.map(([j, d]) => row(j, digits2(d), added.has(j) && "added"))));
  }
  if (pinned && here.length) {
    const both = [i, ...new Set([...here, ...(there || [])].map(([j]) => j))];
    out.push(h("div", { class: "acts" }, h("button", { id: "family", text: "Select with neighbours", onclick: () => app.select(both) })));
  }
  return out;
}

const digits2 = (value) => (value < 0.1 ? digits(Number(value.toPrecision(2))) : value.toFixed(2));

function announce(app, i) {
  const { data } = app;
  if (i < 0) return;
  const { here, there } = neighboursOf(data, i, app.isMeasured()), near = (there || here).slice(0, 5).map(([j]) => nameOf(data, j));
  $("live").textContent = [nameOf(data, i), ...labelsOf(data, i).map(([, text]) => text), `radius ${digits(data.radius[i])}`,
    near.length ? `nearest: ${near.join(", ")}` : null].filter(Boolean).join("; ");
}


/** The note on what the picture leaves out, and why it is in the equidistant view. */
function fillNote(app) {
  const { scene, data } = app, parts = [], of = (some, all, one, many) => `${some.toLocaleString("en")} of ${counted(all, one, many)} in view`;
  const lit = app.lit >= 0 ? ["name of this class", "names of this class"] : app.rows.length ? ["selected name", "selected names"] : ["name", "names"];
  if (app.model === "equidistant" && data.why) parts.push(data.why);
  if (scene.edges.count < scene.edgesInView) parts.push(`${of(scene.edges.count, scene.edgesInView, "edge", "edges")}: ${data.subtrees ? "those of the largest subtrees" : "the longest"}`);
  const named = scene.names.filter(({ i }) => i >= 0).length;
  if (data.names && named < scene.wanted) parts.push(of(named, scene.wanted, ...lit));
  if (data.there && !ofOriginal(data)) parts.push(`the ${data.before} is that of “${data.titles[data.last]}”`);
  parts.push(...regionNote(app));
  if (data.omitted) parts.push(data.omitted);
  const text = parts.join(" · ");
  if ($("left-out").textContent !== text) $("left-out").textContent = text;
  $("lost").hidden = scene.marked > 0;
}

/** The overview: the whole plane, small, with a mark at the centre of the view. It is shown when the view has zoomed or moved. */
function paintOverview(app) {
  const canvas = $("overview"), { data, theme } = app, side = 110, half = side / 2, { dpr } = app.frame;
  canvas.hidden = app.frame.width < 640 || (app.zoom < 1.6 && distance(app.view, app.start) < 1);
  if (canvas.hidden) return;
  const context = canvas.getContext("2d"), { ring } = MODELS[data.model], fit = fitOf(MODELS[data.model], data.reach);
  [canvas.width, canvas.height] = [side * dpr, side * dpr];
  context.setTransform(dpr, 0, 0, dpr, 0, 0);
  const place = (point) => { // as the page showed it at the start
    const [x, y] = lookAtOne(point, app.start), r = Math.hypot(x, y);
    const grow = r ? ((half - 3) * Math.min(1, ring(Math.asinh(r), data.reach) * fit)) / r : 0;
    return [half + grow * x, half - grow * y];
  };
  traceCircle(context, half, half, half - 1);
  fill(context, rgba(theme.disk));
  stroke(context, rgba(theme.line), 1);
  for (const i of app.scene.shuffle.subarray(0, 1500)) {
    const [u, v] = place(pointAt(data.points, i));
    context.fillStyle = css(app.paint[i]);
    context.fillRect(u - 0.8, v - 0.8, 1.6, 1.6);
  }
  traceCircle(context, ...place(app.view), 5);
  stroke(context, rgba(theme.accent), 2.5);
}
