// What surrounds the plane. Names and labels become text, never markup: everything is built with textContent.

const $ = (id) => document.getElementById(id);

function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "text") element.textContent = value;
    else if (value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

function dot(colour) {
  const element = h("span", { class: "dot" });
  element.style.background = colour;
  return element;
}

const counted = (n, one, many) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
const labelOf = (data, i) => (data.classes ? data.classes[data.codes[i]] : null);

function fillHead(app) {
  const { data } = app, parts = [counted(data.n, "point", "points")];
  if (data.classes) parts.push(counted(data.classes.length, "label", "labels"));
  if (data.edges) parts.push(counted(data.edges.length / 2, "edge", "edges"));
  $("title").textContent = data.title;
  $("summary").textContent = parts.join(" · ");
  $("search").placeholder = data.names ? "Find a name" : "Find a point by its number";
  $("search").setAttribute("aria-label", $("search").placeholder);
  if (matchMedia("(pointer: coarse)").matches) $("hint").textContent = "Drag to move, pinch to zoom, double-tap to fly there.";
  $("ink").setAttribute("aria-label", `The hyperbolic plane with ${parts.join(", ")}`);
}

// ---------------------------------------------------------------- search

function listenToSearch(app) {
  const input = $("search"), list = $("results");
  let found = [], at = -1;

  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function choose(k) {
    if (k < 0 || k >= found.length) return;
    close();
    input.blur();
    app.touched();
    app.flyToPoint(found[k]);
  }

  function mark(k) {
    at = k;
    [...list.querySelectorAll("[role=option]")].forEach((option, j) => {
      option.setAttribute("aria-selected", String(j === k));
      if (j === k) option.scrollIntoView({ block: "nearest" });
    });
    if (k >= 0) input.setAttribute("aria-activedescendant", `result-${k}`);
  }

  function update() {
    const result = searchNames(app.data, input.value, 12);
    found = result.found;
    list.replaceChildren(...found.map((i, k) => h("li", { role: "option", id: `result-${k}`, onclick: () => choose(k) },
      dot(css(app.colours[i])), h("span", { class: "what", text: nameOf(app.data, i) }),
      app.data.classes ? h("span", { class: "class", text: labelOf(app.data, i) }) : null)));
    const more = result.total - found.length;
    if (input.value.trim() && !found.length) list.append(h("li", { class: "note", text: "Nothing by that name" }));
    if (more) list.append(h("li", { class: "note", text: `and ${counted(more, "other", "others")}` }));
    list.hidden = !input.value.trim();
    input.setAttribute("aria-expanded", String(!list.hidden));
    mark(found.length ? 0 : -1);
  }

  input.addEventListener("input", update);
  input.addEventListener("focus", () => { input.select(); if (input.value.trim()) update(); });
  input.addEventListener("blur", () => setTimeout(close, 0));
  list.addEventListener("pointerdown", (event) => event.preventDefault()); // or the input would lose the focus first
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) mark((at + step + found.length) % found.length);
    else if (event.key === "Enter") choose(at);
    else if (event.key === "Escape") { input.value = ""; close(); input.blur(); $("ink").focus(); }
    else return;
    event.preventDefault();
  });
}

// ---------------------------------------------------------------- legend

function fillLegend(app) {
  const { data, colouring } = app, scale = $("scale"), top = scale.scrollTop;
  const buttons = () => [...scale.querySelectorAll("button")], focused = buttons().indexOf(document.activeElement);
  $("colour").value = colouring.key;
  if (colouring.key === "label") scale.replaceChildren(...classRows());
  else if (colouring.values) scale.replaceChildren(...rampRows(app));
  else scale.replaceChildren();
  scale.scrollTop = top;
  buttons()[focused]?.focus();

  function classRows() {
    const rows = data.classes.map((text, code) => h("div", { class: "row" },
      h("button", { class: "toggle", title: text, "aria-pressed": String(!app.hidden.has(code)),
        onclick: () => app.toggle(code) }, dot(classColour(code, app.theme.name)), h("span", { class: "what", text }),
      h("span", { class: "count", text: data.counts[code].toLocaleString("en") })),
      h("button", { class: "only", "aria-label": `only ${text}`, text: "only", onclick: () => app.isolate(code) })));
    return app.hidden.size ? [...rows, h("button", { class: "all", text: "Show all", onclick: () => app.showAll() })] : rows;
  }
}

function rampRows({ colouring, theme }) {
  const bar = h("div", { class: "bar" }), [low, high] = colouring.range;
  bar.style.background = `linear-gradient(90deg, ${colouring.ramp[theme.name].join(", ")})`;
  const note = colouring.key === "distortion"
    ? "How much the distances to a point's nearest neighbours were changed: where it is high, do not trust the picture." : null;
  const ends = [low, high].map((value) => h("span", { text: written(value, colouring) }));
  return [bar, h("div", { class: "ends" }, ...ends), note && h("p", { class: "note", text: note })].filter(Boolean);
}

// ---------------------------------------------------------------- card

function fillCard(app) {
  const { data } = app, mark = app.marks[app.marks.length - 1], card = $("card");
  card.hidden = !mark;
  if (!mark) return;
  const { i, neighbours, pinned } = mark, facts = [["Radius", digits(data.radius[i])]], label = labelOf(data, i);
  (data.columns || []).forEach((words, k) => facts.push([words, digits(data[`column-${k}`][i])]));
  if (data.distortion) facts.push(["Local distortion", written(data.distortion[i], { percent: true })]);
  const close = { class: "close", "aria-label": "Let go", title: "Let go (Esc)", text: "✕", onclick: () => app.setPin(-1) };
  card.replaceChildren(...[
    h("h2", { text: nameOf(data, i) }),
    label === null ? null : h("p", { class: "of" }, dot(css(app.colours[i])), h("span", { text: label })),
    h("dl", {}, ...facts.flatMap(([what, value]) => [h("dt", { text: what }), h("dd", { text: value })])),
    ...(neighbours.length ? neighbourRows(app, i, neighbours) : []),
    pinned ? h("button", close) : null,
  ].filter(Boolean));
}

/** The neighbours as buttons, with their distance; with the original space, the distance there and here. */
function neighbourRows(app, i, neighbours) {
  const { data } = app, both = Boolean(data.neighbours);
  const far = (j, d) => (both ? `${digits2(d)} → ${digits2(distanceShown(app, i, j))}` : digits2(d));
  const rows = neighbours.map(([j, d]) => h("li", {}, h("button", { onclick: () => app.flyToPoint(j) },
    dot(css(app.colours[j])), h("span", { class: "what", text: nameOf(data, j) }),
    h("span", { class: "far", text: far(j, d) }))));
  const heads = [both ? "Nearest in the original" : "Nearest", both ? "there → here" : "distance"];
  return [h("h3", {}, ...heads.map((text) => h("span", { text }))), h("ol", {}, ...rows)];
}

const digits2 = (value) => (value < 0.1 ? digits(Number(value.toPrecision(2))) : value.toFixed(2));
const distanceShown = ({ data }, i, j) => distance(pointAt(data.points, i), pointAt(data.points, j)) * data.unit;

function announce(app, i) {
  const { data } = app;
  if (i < 0) return;
  const near = neighboursOf(data, i, app.shown).slice(0, 5).map(([j]) => nameOf(data, j));
  $("live").textContent = [nameOf(data, i), labelOf(data, i), `radius ${digits(data.radius[i])}`,
    near.length ? `nearest: ${near.join(", ")}` : null].filter(Boolean).join("; ");
}

// ---------------------------------------------------------------- buttons

function listenToButtons(app) {
  const click = (id, act) => $(id).addEventListener("click", () => { app.touched(); act(); });
  const zoom = (factor) => () => zoomAt(app, app.frame.cx, app.frame.cy, factor);
  click("home", () => app.goHome());
  click("in", zoom(1.5));
  click("out", zoom(1 / 1.5));
  click("poincare", () => app.setModel("poincare"));
  click("klein", () => app.setModel("klein"));
  click("theme", () => app.setTheme(app.theme.name === "dark" ? "light" : "dark"));
  click("png", () => exportPNG(app));
  click("svg", () => exportSVG(app));
  click("help", () => app.showManual());
  click("colours", () => $("colours").setAttribute("aria-expanded", String($("legend").classList.toggle("open"))));
  $("colour").replaceChildren(...app.colourings.map(({ key, words }) => h("option", { value: key, text: words })));
  $("colour").addEventListener("change", (event) => app.setColouring(event.target.value));
}
