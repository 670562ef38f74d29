// Refitting and refining in a worker; the points move to the new picture along geodesics.

const GOALS = { distortion: "preserve distances", variance: "preserve variance" };
const REFINE = "refine"; // the goal of a refinement, which is of all points
const FEWEST = 4; // a refit needs at least this many points

// the page's own script; a worker only calls its `answerTo`
const ENGINE = globalThis.document && URL.createObjectURL(new Blob([document.currentScript.textContent], { type: "text/javascript" }));

const askWorker = (question) => new Promise((done, failed) => {
  const worker = new Worker(ENGINE);
  worker.onmessage = ({ data }) => { worker.terminate(); done(data); };
  worker.onerror = failed;
  worker.postMessage(question);
});

/** The answer of refit.js, from a worker, or from this thread (once the page is painted) where workers are forbidden. */
async function ask(question) {
  const here = () => new Promise((done) => setTimeout(() => done(answerTo(question))));
  const answer = await askWorker(question).catch(here);
  if (answer.error) throw new Error(answer.error);
  return answer;
}

function addRefit(app) {
  const { data } = app;
  app.refitted = null;
  app.goal = "distortion";
  app.isMeasured = () => !app.refitted && ofOriginal(data); // whether the measures of the page are those of this picture

  app.ask = (question) => ask({ original: data.original, d: data.dimension, ...question });

  app.refit = async (goal = app.goal, chosen = app.rows) => {
    const rows = Uint32Array.from(goal === REFINE ? data.points.r.keys() : chosen), [x, y] = fromCentre(data.points, rows);
    const before = Float64Array.from({ length: 2 * data.n }, (_, k) => (k % 2 ? y : x)[k >> 1]);
    if (goal !== REFINE) app.goal = goal;
    app.refitting = goal;
    app.noBetter = 0;
    fillChosen(app);
    try {
      const answer = await app.ask({ rows, goal, before });
      if (!answer.plane) {
        app.noBetter = rows.length;
        return answer;
      }
      app.refitted = { goal, rows: [...rows], was: answer.was, is: answer.is, seconds: answer.seconds };
      app.markTime(data.last); // the user may have moved the slider meanwhile
      app.moveTo(matched(data.points, answer.plane, rows));
      return answer;
    } catch (error) {
      $("live").textContent = `The refit failed: ${error.message}`;
      throw error;
    } finally {
      app.refitting = null;
      fillChosen(app);
    }
  };

  app.unfit = () => {
    app.refitted = null;
    app.moveTo(data.first);
    fillChosen(app);
  };

  /** Move all points to a new picture. Measures of the old one are not shown with it. */
  app.moveTo = (points, length = 1400, held = -1) => {
    app.morph = { from: data.points, to: points, length: app.still.matches ? 0 : length, held };
    if (!app.isMeasured()) for (const { key, trust } of app.colourings) if (trust && app.filters.has(key)) app.setFilter(key, null);
    app.setColouring(app.colouring.key); // by another column, if this one is a measure of the old picture
    app.draw();
  };

  /** The next frame of such a move. */
  app.advanceMorph = (now) => {
    const { morph } = app, eased = progress(morph, now);
    data.points = eased === 1 ? morph.to : pointsBetween(morph.from, morph.to, eased);
    if (morph.held >= 0) app.view = recentred(app.view, pointAt(data.points, morph.held));
    app.stale = "all";
    if (eased < 1) return;
    app.morph = null;
    data.radius.set(radiiOf(data));
    if (app.colouring.values === data.radius) app.setColouring(app.colouring.key);
    app.applyFilters();
    app.arrived();
  };
}

/** The button that refines the picture, where the original is known; and the distortion of the picture that was measured. */
function fillRefine(app) {
  const { data } = app, button = $("refine");
  $("total").hidden = !app.isMeasured();
  button.hidden = !data.original || !ofOriginal(data) || data.n < FEWEST || app.refitted?.goal === REFINE;
  button.disabled = Boolean(app.refitting);
  button.textContent = app.refitting === REFINE ? "Refining …" : "Refine";
}

/** Coordinates x and y on the hyperboloid of all points, relative to the centre of some rows. */
function fromCentre(points, rows) {
  const x = new Float64Array(points.n), y = new Float64Array(points.n);
  lookAt(points, { ...centreOf(points, rows), turn: 0 }, x, y);
  return [x, y];
}

/** The new places (x, y interleaved), after the isometry that matches those of some rows best to the old places. */
function matched(points, plane, rows) {
  const [x, y] = fromCentre(points, rows), centre = centreOf(points, rows);
  const [s, t] = fromCentre(polarPoints(...[0, 1].map((k) => plane.filter((_, at) => at % 2 === k))), rows);
  let a = 0, b = 0, c = 0, d = 0;
  const logs = (u, v) => { const r = Math.hypot(u, v), grow = r > 1e-9 ? Math.asinh(r) / r : 1; return [grow * u, grow * v]; };
  for (const i of rows) {
    const [u, v] = logs(x[i], y[i]), [p, q] = logs(s[i], t[i]);
    a += u * p; b += u * q; c += v * p; d += v * q;
  }
  const mirror = Math.hypot(a - d, b + c) > Math.hypot(a + d, c - b) ? -1 : 1;
  const turn = mirror > 0 ? Math.atan2(c - b, a + d) : Math.atan2(b + c, a - d), cos = Math.cos(turn), sin = Math.sin(turn);
  for (let i = 0; i < points.n; i++) {
    const q = mirror * t[i], place = worldPoint({ ...centre, turn: 0 }, cos * s[i] - sin * q, sin * s[i] + cos * q);
    x[i] = place.r * place.ux;
    y[i] = place.r * place.uy;
  }
  return polarPoints(x, y);
}

const percent = (value) => `${(100 * value).toFixed(1)} %`;

function refitRows(app) {
  const { data, refitted, rows } = app, out = [];
  if (rows.length >= FEWEST && data.original && ofOriginal(data)) {
    const goal = choice("goal", "What a refit preserves", Object.entries(GOALS), app.goal, (value) => { app.goal = value; });
    const text = app.refitting && app.refitting !== REFINE ? "Refitting …" : "Refit to these";
    out.push(h("div", { class: "acts" }, h("button", { id: "refit", text, disabled: Boolean(app.refitting), onclick: () => app.refit(),
      title: "Fit HoroPCA to the selected points alone, and move all points to the new picture" }), goal));
  }
  if (refitted) {
    const { was, is } = refitted, square = data.unit ** 2, kept = `${percent(was.distortion)} → ${percent(is.distortion)}`;
    const text = refitted.goal === REFINE ? `Refined: average distortion ${kept}. New points cannot be added to a refined picture.`
      : `Refitted to ${counted(refitted.rows.length, "point", "points")}: their average distortion ${kept}, mean squared distance ` +
        `${digits2(was.variance * square)} → ${digits2(is.variance * square)}.`;
    out.push(h("p", { class: "note", id: "refitted", text }),
    h("div", { class: "acts" }, h("button", { id: "unfit", text: "Back to the first picture", onclick: () => app.unfit() })));
  }
  if (app.noBetter) {
    out.push(h("p", { class: "note", id: "no-better", text: `No better picture of these ${counted(app.noBetter, "point", "points")} was found: the picture is unchanged.` }));
  }
  return out;
}
