// The current view as a PNG (at twice the size), as an SVG and in print, in the light theme on white.

/** Draw in the light theme on a white page, and then again as before. */
function onPaper(app, act) {
  const before = app.chosenTheme;
  if (app.stale === "all") app.render();
  app.setTheme("light");
  app.theme.page = [255, 255, 255];
  try { return act(); } finally { app.setTheme(before); }
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function fileName({ data: { title, titles, time } }, suffix, what = "") {
  const words = (text) => text.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  return `${[words(`${title} ${titles?.[time] ?? ""}`).slice(0, 60) || "view", what].filter(Boolean).join("-")}.${suffix}`;
}

/** The part of the screen to keep: the disk where it is whole, what lies between the panels otherwise. */
function cropOf(frame) {
  if (frame.open) return { ...frame.free };
  const w = Math.min(frame.free.width, 2 * frame.scale + 40), h = Math.min(frame.free.height, 2 * frame.scale + 40);
  return { x: frame.cx - w / 2, y: frame.cy - h / 2, width: w, height: h };
}

/** Lines of the legend of the exported picture: { text, colour }. */
function legendLines(app) {
  const { colouring, data } = app, theme = app.theme.name;
  if (colouring.values) {
    const ramp = rampOf(data, colouring, app.scale, theme);
    const at = valueOn(app.scale, colouring.ranges[app.scale]);
    return [1, 0.75, 0.5, 0.25, 0].map((part) => ({
      text: written(at(part), colouring) + (part === 1 ? `  ${clipped(colouring.words)}` : ""), colour: hex(along(ramp, part)),
    }));
  }
  if (!colouring.labeling) return [];
  const { classes, counts } = colouring.labeling, colours = colouring.labeling[theme];
  const lines = classes.map((text, code) => ({ text: clipped(text), colour: colours[code], count: counts[code], code }))
    .filter(({ code }) => !app.hidden().has(code));
  const most = Math.floor((cropOf(app.frame).height - 24) / 20); // lines that fit
  if (lines.length <= most) return lines;
  const largest = new Set([...lines].sort((a, b) => b.count - a.count).slice(0, most - 1));
  return [...lines.filter((line) => largest.has(line)), { text: `${lines.length - largest.size} others`, colour: data.other[theme] }];
}

const LEGEND = 190; // pixels beside the picture

function paintPicture(context, app) {
  paintPlane(context, app);
  paintDensity(context, app);
  paintRegions(context, app);
  paintInk(context, app);
}

/** Paint the legend to the right of the part of the screen that is kept. */
function paintLegend(context, { theme }, lines, crop) {
  context.font = FONT(13);
  context.textBaseline = "middle";
  lines.forEach(({ text, colour }, k) => {
    const x = crop.x + crop.width + 12, y = crop.y + 24 + 20 * k;
    traceCircle(context, x, y, 5);
    fill(context, colour);
    context.fillStyle = rgba(theme.ink);
    context.fillText(text, x + 12, y, LEGEND - 30);
  });
}

/** The view on a canvas, at twice its size. */
function pictureOf(app) {
  const crop = cropOf(app.frame), lines = legendLines(app), dpr = 2, canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [crop.width + (lines.length ? LEGEND : 0), crop.height].map((size) => Math.round(dpr * size));
  const context = canvas.getContext("2d", { alpha: false });
  context.fillStyle = rgba(app.theme.page);
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.setTransform(dpr, 0, 0, dpr, -dpr * crop.x, -dpr * crop.y);
  context.save();
  context.beginPath();
  context.rect(crop.x, crop.y, crop.width, crop.height);
  context.clip();
  paintPicture(context, app);
  context.restore();
  paintLegend(context, app, lines, crop);
  return canvas;
}

const exportPNG = (app) => onPaper(app, () => pictureOf(app)).toBlob((blob) => download(blob, fileName(app, "png")), "image/png");

function svgOf(app) {
  const crop = cropOf(app.frame), lines = legendLines(app), context = newSVG(), [x, y, high] = [crop.x, crop.y, crop.height].map(short);
  const wide = short(crop.width + (lines.length ? LEGEND : 0)), size = `width="${wide}" height="${high}"`;
  paintPicture(context, app);
  const picture = context.cropped(crop);
  paintLegend(context, app, lines, crop);
  return [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="${x} ${y} ${wide} ${high}" ${size} font-family="system-ui, sans-serif">`,
    `<title>${xml(app.data.title)}</title>`, `<rect x="${x}" y="${y}" ${size} fill="${hex(app.theme.page)}"/>`,
    ...picture, ...context.taken(), "</svg>\n"].join("\n");
}

const exportSVG = (app) => download(new Blob([onPaper(app, () => svgOf(app))], { type: "image/svg+xml" }), fileName(app, "svg"));

/** Printed, the picture takes the place of the page, with its legend. */
function listenToPrinter(app) {
  addEventListener("beforeprint", () => {
    const picture = onPaper(app, () => pictureOf(app));
    picture.id = "print";
    document.body.append(picture);
  });
  addEventListener("afterprint", () => $("print")?.remove());
}
