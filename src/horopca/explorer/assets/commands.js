// Buttons and keys: what they do.

const SWITCHES = { lasso: "l", ruler: "m", edges: "e", regions: "r", density: "d" }; // buttons that are on or off, and their keys
const ARROWS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Commands as [button or null, keys, what they do]. */
function commandsOf(app) {
  const zoom = (factor) => zoomAt(app, app.frame.cx, app.frame.cy, factor), { scene, has } = app;
  return [
    ["home", "Home", () => app.goHome()],
    ["found", "", () => app.goHome()],
    ["back", "Backspace", () => app.goBack()],
    ["in", "+ =", () => zoom(1.3)],
    ["out", "-", () => zoom(1 / 1.3)],
    ["help", "?", () => $("manual").showModal()],
    ["theme", "", () => app.setTheme(app.theme.name === "dark" ? "light" : "dark")],
    ["png", "", () => exportPNG(app)],
    ["svg", "", () => exportSVG(app)],
    ["refine", "", () => app.refit(REFINE)],
    ["colours", "", () => $("colours").setAttribute("aria-expanded", String($("legend").classList.toggle("open")))],
    [null, "/", () => $("search").focus()],
    [null, "Enter", () => app.setPin(pick(scene, app.frame.cx, app.frame.cy, Infinity))],
    [null, "Escape", () => stepOut(app)],
    ...Object.entries(SWITCHES).map(([name, key]) => [name, has[name] ? key : "", () => app.toggle(name)]),
    ...Object.keys(MODELS).map((name) => [name, "", () => app.setModel(name)]),
    ...(has.film ? [["play", "Space", () => app.play()], [null, ",", () => app.step(-1)], [null, ".", () => app.step(1)]] : []),
  ];
}

/** Leave the lasso or the ruler; or else unpin; or else select nothing. */
function stepOut(app) {
  const tool = ["lasso", "ruler"].find((name) => app.on[name]);
  if (tool) app.toggle(tool, false);
  else if (app.pin >= 0) app.setPin(-1);
  else app.select([]);
}

function listenToCommands(app) {
  const byKey = new Map();
  $("models").append(...Object.entries(MODELS).map(([id, { label, title }]) => h("button", { id, title, text: label })));
  for (const [button, keys, act] of commandsOf(app)) {
    if (button) $(button).addEventListener("click", act);
    for (const key of keys.split(" ")) byKey.set(key, act);
  }
  $("colour").addEventListener("change", (event) => app.setColouring(event.target.value));
  document.addEventListener("keydown", (event) => {
    const { target, defaultPrevented, ctrlKey, metaKey, altKey } = event;
    const key = event.key === " " ? "Space" : event.key.replace(/^[A-Z]$/, (letter) => letter.toLowerCase());
    if (defaultPrevented || ctrlKey || metaKey || altKey || target.closest("input:not(#time), select, dialog")) return;
    if (target.id === "time" && (key in ARROWS || key === "Home")) return;
    if (["Enter", "Space"].includes(key) && target.closest("button, a, summary")) return;
    const [dx, dy] = ARROWS[key] || [], act = byKey.get(key);
    if (!act && dx === undefined) return;
    event.preventDefault();
    if (act) return act();
    app.halt();
    app.look(dragged(app.view, [0, 0], [(0.12 * dx) / app.zoom, (0.12 * dy) / app.zoom]));
  });
}
