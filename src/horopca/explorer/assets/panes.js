// Side by side: a pane for each picture, the same page in an iframe. They share the point under the pointer,
// the pinned point, the selection, colours, filters and flights.

const PANE = "horopca-pane-"; // the name of its window: this, the number of its picture, and the state in the address

/** The number of the picture that this window is the pane of; null if it is not a pane. */
const paneNumber = () => (window.name.startsWith(PANE) && window !== parent ? parseInt(window.name.slice(PANE.length), 10) : null);

/** The state that the page starts from: in a pane, what the page around it passes on. */
const firstState = () => (paneNumber() === null ? location.hash : window.name.replace(/^[^#]*/, ""));

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return ""; }
}

/** Fill the page with panes, and pass messages between them and to a notebook around the page. */
function openPanes({ titles }) {
  const whole = `<!DOCTYPE html>${document.documentElement.outerHTML}`;
  document.body.classList.add("side");
  const states = location.hash.slice(1).split("/").map(decoded);
  const frames = titles.map((title, k) => h("iframe", { name: `${PANE}${k}${states[k] || ""}`, title, srcdoc: whole, allow: "clipboard-write" }));
  document.body.append(...frames);
  const ready = new Set();
  addEventListener("message", ({ source, data }) => {
    const inside = frames.some(({ contentWindow }) => contentWindow === source);
    if (inside && data?.horopca === "ready") ready.add(source);
    if (inside && data?.horopca === "address") {
      states[frames.findIndex(({ contentWindow }) => contentWindow === source)] = String(data.hash);
      try { history.replaceState(null, "", `#${frames.map((_, k) => encodeURIComponent(states[k] || "")).join("/")}`); } catch { /* in a notebook */ }
      return;
    }
    if (inside && data?.horopca === "selection") parent !== window && parent.postMessage(data, "*");
    else for (const { contentWindow } of frames) if (contentWindow !== source && (inside || source === parent)) contentWindow.postMessage(data, "*");
  });
  return { panes: frames.length, state: () => ({ flying: ready.size < frames.length }) };
}

const LINKED = ["by", "scale", "theme", "density", "edges", "model", "filter", "pin"]; // parts of the STATE that panes share

/** In a pane: send what changed to the others after every frame, and take over what they send. */
function linkPanes(app) {
  if (app.data.pane === null) return;
  const own = { rows: (rows) => app.select(rows), hover: (i) => app.setHover(i), lit: (code) => app.light(code), fly: (i) => app.flyToPoint(i, false) };
  const common = () => ({ ...Object.fromEntries(LINKED.map((key) => [key, STATE[key].get(app)])), rows: app.rows, hover: app.hover, lit: app.lit });
  let sent = common();
  app.share = (more = {}) => {
    const now = common(), changed = Object.entries(now).filter(([key, value]) => sent[key] !== value);
    sent = now;
    if (changed.length || more.fly >= 0) parent.postMessage({ horopca: "link", state: { ...Object.fromEntries(changed), ...more } }, "*");
  };
  addEventListener("message", ({ source, data }) => {
    if (source !== parent || data?.horopca !== "link") return;
    for (const [key, value] of Object.entries(data.state)) {
      if (Object.hasOwn(own, key)) own[key](value);
      else if (LINKED.includes(key)) STATE[key].set(app, String(value));
    }
    sent = common();
  });
}
