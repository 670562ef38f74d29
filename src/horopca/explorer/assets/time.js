// Several pictures of the same points: a slider, and a button that plays them.

// Milliseconds: a move between two pictures; while playing, the most and the least for one picture, and the aim for all of them.
const MOVE = 500, MOST_PAUSE = 900, LEAST_PAUSE = 150, WHOLE = 12000;

/** The points at a time; those of the last one are where the page starts. */
const pictureAt = (data, time) => (time === data.last ? data.first : polarPoints(data[`x-${time}`], data[`y-${time}`]));

/** Whether the picture is the one whose points before the reduction are known. */
const ofOriginal = (data) => data.time === data.last;

function addTime(app) {
  const { data } = app, slider = $("time"), pause = Math.min(MOST_PAUSE, Math.max(LEAST_PAUSE, WHOLE / (data.last + 1)));
  let due = 0;
  app.playing = false;
  slider.max = data.last;
  $("when").style.minWidth = `${Math.min(14, (data.titles || []).reduce((most, { length }) => Math.max(most, length), 0))}ch`;

  /** Set the slider and its label. */
  app.markTime = (time) => {
    data.time = time;
    slider.value = time;
    $("when").textContent = data.titles ? data.titles[time] : "";
    slider.setAttribute("aria-valuetext", $("when").textContent);
  };

  /** Move all points to where they are at a time. What the view is centred on stays in its middle. */
  app.setTime = (time, length = MOVE) => {
    if (time === data.time && !app.refitted) return;
    const held = app.pin >= 0 && sameCentre(app.view, pointAt(data.points, app.pin)) ? app.pin : -1;
    app.refitted = null;
    app.markTime(time);
    app.moveTo(pictureAt(data, time), length, held);
    fillChosen(app);
  };

  /** The same without moving, for an address. */
  app.jumpTo = (time) => {
    if (time === data.time) return;
    Object.assign(app, { refitted: null, morph: null });
    app.markTime(time);
    data.points = pictureAt(data, time);
    data.radius.set(radiiOf(data));
  };

  app.step = (by) => { app.play(false); app.setTime(Math.min(data.last, Math.max(0, data.time + by))); };

  /** Play from here, or from the first picture if this is the last; or stop. */
  app.play = (on = !app.playing) => {
    clearTimeout(due);
    app.playing = on;
    $("play").setAttribute("aria-pressed", String(app.playing));
    if (app.playing) app.setTime(data.time === data.last ? 0 : data.time + 1, 0.75 * pause);
  };

  /** A picture is reached: the next one, after a while. */
  app.arrived = () => {
    if (!app.playing) return;
    if (data.time === data.last) return app.play(false);
    due = setTimeout(() => app.setTime(data.time + 1, 0.75 * pause), app.still.matches ? pause : 0.25 * pause);
  };

  slider.addEventListener("input", () => { app.play(false); app.setTime(Number(slider.value)); });
  app.markTime(data.last);
}
