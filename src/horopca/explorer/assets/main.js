// The application: holds the state of the page and redraws it when the state changes.

const LEAST_ZOOM = 0.4, MOST_ZOOM = 2000;
const MANY = 20000, REST = 120; // above MANY points, names are placed once the view has rested for REST milliseconds
const PALETTE = ["page", "disk", "line", "ink", "soft", "edge", "accent", "wrong"];

function newApp(data) {
  const app = {
    data, scene: newScene(data), colourings: colourings(data), start: { ...polar(...(data.homes?.[data.pane] || data.home)), turn: 0 },
    hover: -1, pin: -1, zoom: 1, model: data.model, marks: [], flight: null, morph: null, stale: "all", frameRequest: 0, restless: data.n > MANY,
    lit: -1, lasso: null, trail: [""], visit: 0, scale: "linear", on: {}, ruled: [],
    has: { lasso: true, ruler: true, edges: Boolean(data.edges), regions: Boolean(data.ellipses), density: data.n >= FEWEST_DENSE,
      film: data.last > 0 && data.pane === null, original: Boolean(data.before), classes: data.labelings.length > 0, images: Boolean(data.images) },
  };
  const ink = $("ink"), inkContext = ink.getContext("2d"), plane = $("plane"), planeContext = newPlane(plane);
  app.colouring = app.colourings[0];
  addFilters(app);
  addSelection(app);
  addRefit(app);
  addTime(app);
  const dark = matchMedia("(prefers-color-scheme: dark)"), still = (app.still = matchMedia("(prefers-reduced-motion: reduce)"));


  app.draw = (what = "all") => {
    if (what === "all") [app.stale, app.restless] = ["all", data.n > MANY];
    app.stale = app.stale || what;
    if (!app.frameRequest) app.frameRequest = requestAnimationFrame(step);
  };

  let resting = 0;
  function step(now) {
    app.frameRequest = 0;
    if (app.flight) advance(now);
    if (app.morph) app.advanceMorph(now);
    const moved = data.n > MANY && app.stale === "all";
    app.render();
    app.share();
    clearTimeout(resting);
    if (app.flight || app.morph) app.draw();
    else if (moved) resting = setTimeout(() => app.draw("ink"), REST);
    else {
      app.restless = false;
      app.keepAddress();
      fillNote(app);
      paintOverview(app);
    }
  }

  app.render = () => {
    const { scene, frame } = app;
    if (app.stale === "all") {
      project(scene, data, app.view, app.model, frame, app.shown);
      scene.rings = ringsOf(data, app.model, frame);
      chooseEdges(scene, app);
      chooseMarks(scene, frame);
      const many = scene.edges.count > 1000; // lines wider than a pixel are slow to draw
      Object.assign(scene.edges, { width: many ? 0.8 : 1.1, alpha: (many ? 0.4 : 0.6) * (app.litRows() ? 0.35 : 1) });
      planeContext.setTransform(frame.dpr, 0, 0, frame.dpr, 0, 0);
      paintPlane(planeContext, app);
      app.borders = new Map(); // of regions, by row
      app.contours = null;
    }
    placeNames(app, inkContext, data.n > MANY && app.stale === "all");
    inkContext.setTransform(frame.dpr, 0, 0, frame.dpr, 0, 0);
    inkContext.clearRect(0, 0, frame.width, frame.height);
    if (!(app.restless && app.stale === "all")) paintDensity(inkContext, app); // of very many points once the view rests
    paintRegions(inkContext, app);
    paintInk(inkContext, app, app.lasso);
    app.stale = null;
  };

  /** Limit the height of the card, so that it does not cover the panel above it. */
  const card = $("card"), head = $("head");
  function fitCard() {
    card.style.maxHeight = innerWidth >= 1024 ? `${Math.max(60, innerHeight - head.getBoundingClientRect().bottom - 28)}px` : "";
  }

  app.resize = () => {
    const width = innerWidth, height = innerHeight, dpr = Math.min(2, devicePixelRatio || 1);
    for (const canvas of [plane, ink]) [canvas.width, canvas.height] = [Math.round(width * dpr), Math.round(height * dpr)];
    const box = (id) => $(id).getBoundingClientRect(), wide = width >= 1024, beside = width >= 700;
    const left = wide ? box("head").right : 0, right = beside ? width - box("legend").left : 0;
    const side = wide && width - left - right < 0.55 * height ? Math.max(0, width - left) : 0; // narrow: under the legend
    const top = wide ? 0 : box("head").bottom, bottom = height - box("tools").top;
    fitCard();
    const free = { x: left, y: top, width: side || width - left - right, height: height - top - bottom };
    const plain = Math.max(40, Math.min(free.width, free.height) / 2 - (wide ? 16 : 8));
    const { open } = MODELS[app.model], radius = plain * fitOf(MODELS[app.model], data.reach);
    app.frame = { width, height, dpr, free, plain, radius, zoom: app.zoom, scale: radius * app.zoom, model: app.model,
      open: Boolean(open), reach: data.reach,
      taken: wide ? [[width / 2 - 220, height - 98, width / 2 + 220, height - 60]] // the note, and otherwise the overview
        : beside ? [[width - right - 118, height - 176, width - right - 8, height - 66]] : [],
      cx: free.x + free.width / 2, cy: free.y + (wide ? free.height / 2 : Math.min(free.height / 2, plain + 20)) };
    app.draw();
  };


  app.look = (view) => { app.view = view; app.draw(); };
  app.setZoom = (zoom) => {
    app.zoom = zoom;
    Object.assign(app.frame, { zoom, scale: app.frame.radius * zoom });
    app.draw();
  };
  app.setModel = (model) => {
    app.model = model;
    for (const name of Object.keys(MODELS)) $(name).setAttribute("aria-pressed", String(name === model));
    app.resize();
  };

  app.halt = () => { app.flight = null; };
  app.fly = (target, { zoom = app.zoom, upright = false } = {}) => {
    app.remember();
    const d = distance(app.view, target);
    app.flight = { from: app.view, target, d, done: 0, length: still.matches ? 0 : Math.min(2200, 500 + 170 * d),
      upright, zoomFrom: app.zoom, zoomTo: zoom };
    app.draw();
  };

  /** The next frame of a flight along the geodesic, in steps short enough for the view to keep its bearings. */
  function advance(now) {
    const { flight } = app, eased = progress(flight, now), before = flight.done;
    const steps = Math.max(1, Math.ceil((eased - before) * flight.d));
    for (let k = 1; k <= steps; k++) {
      app.view = recentred(app.view, between(flight.from, flight.target, before + ((eased - before) * k) / steps));
    }
    if (flight.upright) app.view.turn *= eased === 1 ? 0 : (1 - eased) / (1 - before);
    app.setZoom(flight.zoomFrom * (flight.zoomTo / flight.zoomFrom) ** eased);
    flight.done = eased;
    if (eased < 1) return;
    app.flight = null;
    writeAddress("replaceState"); // at once: Forward comes back here
  }

  app.flyToPoint = (i, first = true) => {
    if (first) app.share({ fly: i });
    app.reveal(i);
    app.fly(pointAt(data.points, i));
    app.setPin(i);
  };
  app.goHome = () => app.fly(app.start, { zoom: 1, upright: true });


  app.remark = () => {
    const kept = [[app.pin, true], [app.hover, false]].filter(([i], k) => i >= 0 && app.shown[i] && !(k && i === app.pin));
    app.marks = kept.map(([i, pinned]) => {
      const found = neighboursOf(data, i, app.isMeasured()), links = (found.there || found.here).map(([j]) => j).filter((j) => app.shown[j]);
      return { i, pinned, links, ...found };
    });
    fillCard(app);
    app.draw("ink");
  };

  app.setHover = (i) => {
    if (i === app.hover) return;
    app.hover = i;
    ink.classList.toggle("over", i >= 0);
    app.remark();
  };
  app.setPin = (i) => {
    app.pin = i;
    app.remark();
    announce(app, i);
  };

  app.light = (code) => { if (code !== app.lit) { app.lit = code; app.tint(); } };

  /** 1 for each point that is not dimmed, or null where none is dimmed. */
  app.litRows = () => {
    if (app.lit >= 0) return Uint8Array.from(app.colouring.labeling.codes, (code) => Number(code === app.lit));
    return app.rows.length ? app.selected : null;
  };

  /** Colours and order of painting: dimmed and grey points below, and otherwise in no order of rows or classes. */
  app.tint = () => {
    const lit = app.litRows(), grey = packed(rgb(data.other[app.theme.name])), { shuffle, order, rank } = app.scene;
    app.paint = lit ? dimmed(app.colours, lit, app.theme.disk) : app.colours;
    let below = 0, above = data.n;
    for (let k = data.n - 1; k >= 0; k--) {
      const i = shuffle[k], at = (lit ? lit[i] === 1 : app.colours[i] !== grey) ? --above : below++;
      rank[i] = at;
      order[at] = i;
    }
    app.scene.first = above;
    app.draw();
  };

  /** Colour by a column; by the first one if there is no such column, or if its values are not those of this picture. */
  app.setColouring = (key) => {
    const before = app.colouring, known = app.colourings.find((one) => one.key === key && (!one.trust || app.isMeasured()));
    app.colouring = known || app.colourings[0];
    if (before !== app.colouring) {
      app.lit = -1;
      if (!app.colouring.ranges?.[app.scale]) app.scale = "linear";
    }
    app.colours = coloursOf(data, app.colouring, app.scale, app.theme.name);
    app.tint();
    fillLegend(app);
    app.remark();
  };
  app.setScale = (scale) => { app.scale = scale; app.setColouring(app.colouring.key); };

  /** Switch one of the SWITCHES on or off. The lasso and the ruler exclude each other. */
  app.toggle = (name, on = !app.on[name]) => {
    app.on[name] = on && app.has[name];
    if (name === "ruler") app.ruled = [];
    if (on && name === "lasso") app.toggle("ruler", false);
    if (on && name === "ruler") app.toggle("lasso", false);
    $(name).setAttribute("aria-pressed", String(app.on[name]));
    ink.classList.toggle("lassoing", Boolean(app.on.lasso || app.on.ruler));
    fillRuler(app);
    app.draw(name === "edges" ? "all" : "ink");
  };

  app.setTheme = (chosen) => {
    app.chosenTheme = chosen;
    document.documentElement.dataset.theme = chosen || (dark.matches ? "dark" : "light");
    const style = getComputedStyle(document.documentElement);
    app.theme = Object.fromEntries(PALETTE.map((name) => [name, rgb(style.getPropertyValue(`--${name}`).trim())]));
    Object.assign(app.theme, { name: document.documentElement.dataset.theme, opacity: data.n > 20000 ? 0.8 : 1 });
    app.setColouring(app.colouring.key);
  };


  let settled = 0;
  /** Write the view into the address, as the step of the browser's history that it is. Inside a notebook a page may not; the
   * Back button then uses the page's list. */
  function writeAddress(how) {
    app.trail[app.visit] = writeHash(app);
    if (data.pane !== null) parent.postMessage({ horopca: "address", hash: app.trail[app.visit] }, "*");
    try {
      history[how]({ visit: app.visit }, "", app.trail[app.visit] || location.pathname + location.search);
    } catch { /* in a notebook */ }
  }
  app.keepAddress = () => {
    clearTimeout(settled);
    settled = setTimeout(() => { if (writeHash(app) !== location.hash || history.state?.visit !== app.visit) writeAddress("replaceState"); }, 200);
  };

  /** Before a flight: remember where it begins, for the page's Back and the browser's. */
  app.remember = () => {
    writeAddress("replaceState");
    app.trail.length = ++app.visit;
    writeAddress("pushState");
    $("back").disabled = false;
  };
  app.goBack = () => {
    if (!app.visit) return;
    if (history.state?.visit === app.visit) return history.back(); // answered by popstate
    app.goTo(app.visit - 1, app.trail[app.visit - 1]);
  };
  app.goTo = (visit, hash) => {
    clearTimeout(settled);
    app.visit = visit;
    $("back").disabled = !visit;
    app.restore(hash);
  };

  app.restore = (hash) => {
    app.flight = null;
    readHash(app, hash);
    fillRefine(app);
  };

  document.documentElement.classList.toggle("framed", window !== parent && data.pane === null);
  app.share = () => {}; // replaced by `linkPanes`
  fillHead(app);
  // on "click", not "pointerdown": hiding the hint moves what is below it
  for (const type of ["click", "keydown", "wheel"]) addEventListener(type, () => $("hint").classList.add("gone"));
  listenToSearch(app);
  listenToPointers(app, ink);
  listenToCommands(app);
  listenToPrinter(app);
  app.restore(firstState());
  linkPanes(app);
  addEventListener("resize", app.resize);
  new ResizeObserver(fitCard).observe(head);
  addEventListener("popstate", ({ state }) => app.goTo(state?.visit ?? app.visit, location.hash));
  dark.addEventListener("change", () => { if (!app.chosenTheme) app.setTheme(null); });
  app.finish = () => [planeContext, inkContext].forEach((context) => context.getImageData(0, 0, 1, 1));
  return app;
}

/** The page's interface for tests and scripts. */
function publicFace(app) {
  const { data, scene } = app;
  let nudged = 0;
  const drawn = () => { if (app.stale === "all" || app.flight || app.morph) app.render(); };
  return {
    n: data.n,
    state: () => ({
      zoom: app.zoom, model: app.model, pin: app.pin, hover: app.hover, colour: app.colouring.key, hidden: [...app.hidden()],
      theme: app.theme.name, flying: app.flight !== null || app.morph !== null || app.restless || Boolean(app.refitting), scale: app.scale,
      time: data.time, playing: app.playing, regions: drawnRegions(app).map(({ i }) => i), visit: app.visit,
      refitted: app.refitted && app.refitted.goal,
      names: scene.names.filter(({ i }) => i >= 0).map(({ text }) => text), edges: scene.edges.count, selected: [...app.rows],
      classes: scene.names.filter(({ code }) => code >= 0).map(({ text }) => text),
    }),
    rings: () => { drawn(); return scene.rings.map(({ pixels, text }) => [pixels, Number(text)]); },
    colour: (i) => css(app.paint[i]),
    visible: (i) => app.shown[i] === 1,
    path: (i, j) => { drawn(); return arcOnScreen(scene, app.frame, i, j, turnBetween(scene, app.frame, i, j)).path; },
    density: () => { drawn(); return contoursOf(app); },
    region: (i) => { drawn(); return borderOnScreen(app, i); },
    select: (rows) => app.select(rows),
    refit: async (goal) => { const { plane, ...rest } = await app.refit(goal); return { ...rest, moved: Boolean(plane), basis: [...rest.basis], centre: [...rest.centre] }; },
    objective: async (rows, goal, basis) => { const found = await app.ask({ rows, goal, basis }); return { value: found.value, gradient: [...found.gradient] }; },
    screen: (i) => { drawn(); return placeOnScreen(app, i); },
    shown: (i) => { drawn(); return [scene.x[i], scene.y[i]]; },
    thumbnails: () => scene.thumbs.map(({ i }) => i),
    boxes: () => scene.names.map(({ box }) => box),
    flyTo: (i) => app.flyToPoint(i),
    nudge,
    /** Milliseconds of `count` frames while the view moves, each counted until it is painted. */
    time: (count) => Array.from({ length: count }, () => {
      const begun = performance.now();
      nudge();
      app.render();
      app.finish();
      return performance.now() - begun;
    }),
  };

  /** Move a little, in a circle. */
  function nudge() {
    const angle = nudged++ / 5;
    app.look(dragged(app.view, [0, 0], [0.02 * Math.cos(angle), 0.02 * Math.sin(angle)]));
  }
}

/** Inside a notebook: a selection that it sends is taken over. */
function listenToNotebook(face) {
  if (window === parent) return;
  addEventListener("message", ({ source, data }) => {
    if (source === parent && data?.horopca === "select" && Array.isArray(data.rows)) {
      face.select(data.rows.filter((i) => Number.isInteger(i) && i >= 0 && i < face.n));
    }
  });
  parent.postMessage({ horopca: "ready" }, "*");
}

async function startPage() {
  try {
    const data = await readData($("data")), panes = data.layout === "side" && data.pane === null;
    window.horopca = panes ? openPanes(data) : publicFace(newApp(data));
    if (!panes) listenToNotebook(window.horopca);
  } catch (error) {
    document.body.append(h("p", { id: "failure", text: `This page cannot be shown: ${error.message}` }));
    throw error;
  }
}

if (globalThis.document) startPage();
else globalThis.onmessage = ({ data }) => postMessage(answerTo(data)); // in a worker
