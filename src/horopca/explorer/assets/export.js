// The current view as a file, in the light theme on white: SVG with true arcs, PNG at twice the size. And printed.

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

function fileName(app, suffix) {
  const { title, titles, time } = app.data, words = (titles ? `${title} ${titles[time]}` : title).replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  return `${words.slice(0, 60) || "view"}.${suffix}`;
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
    .filter(({ code }) => !app.hidden.has(code));
  const most = Math.floor((cropOf(app.frame).height - 24) / 20); // lines that fit
  if (lines.length <= most) return lines;
  const largest = new Set([...lines].sort((a, b) => b.count - a.count).slice(0, most - 1));
  return [...lines.filter((line) => largest.has(line)), { text: `${lines.length - largest.size} others`, colour: greyOf(data, theme) }];
}

/** The view on a canvas, at twice its size. */
function pictureOf(app) {
  const { frame, theme } = app, crop = cropOf(frame), lines = legendLines(app), dpr = 2, side = lines.length ? 190 : 0;
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(dpr * (crop.width + side));
  canvas.height = Math.round(dpr * crop.height);
  const context = canvas.getContext("2d", { alpha: false });
  context.fillStyle = rgba(theme.page);
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.save();
  context.beginPath();
  context.rect(0, 0, dpr * crop.width, dpr * crop.height);
  context.clip();
  context.setTransform(dpr, 0, 0, dpr, -dpr * crop.x, -dpr * crop.y);
  paintBackdrop(context, app.scene, frame, theme);
  paintEdges(context, app.scene, frame, theme);
  paintPoints(context, app.scene, theme, app.paint);
  paintDensity(context, app);
  paintRegions(context, app);
  paintInk(context, app);
  context.restore();
  context.setTransform(dpr, 0, 0, dpr, dpr * (crop.width + 12), 24 * dpr);
  context.font = FONT(13);
  context.textBaseline = "middle";
  lines.forEach(({ text, colour }, k) => {
    context.fillStyle = colour;
    context.beginPath();
    context.arc(0, 20 * k, 5, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = rgba(theme.ink);
    context.fillText(text, 12, 20 * k, side - 30);
  });
  return canvas;
}

const exportPNG = (app) => onPaper(app, () => pictureOf(app)).toBlob((blob) => download(blob, fileName(app, "png")), "image/png");

/** Text as XML has it: markup escaped, characters that XML has no place for dropped. */
const xml = (text) =>
  text.replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, "")
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const short = (value) => String(Number(value.toFixed(2)));

function arcPath(arc) {
  const start = `M${short(arc.ax)} ${short(arc.ay)}`;
  if (arc.path) return start + Array.from({ length: arc.path.length / 2 - 1 }, (_, k) => `L${short(arc.path[2 * k + 2])} ${short(arc.path[2 * k + 3])}`).join("");
  const end = `${short(arc.bx)} ${short(arc.by)}`, r = short(arc.r || 0);
  return arc.r ? `${start}A${r} ${r} 0 0 ${arc.side > 0 ? 0 : 1} ${end}` : `${start}L${end}`;
}

function svgPoints(app) {
  const { scene, paint: colours } = app, out = [];
  const border = (size) => (size > 3 ? ` stroke="${hex(app.theme.disk)}"` : "");
  for (const i of scene.marks.subarray(0, scene.marked)) {
    const place = `cx="${short(scene.px[i])}" cy="${short(scene.py[i])}" r="${short(scene.size[i])}" fill="${css(colours[i])}"`;
    out.push(`<circle ${place}${border(scene.size[i])}/>`);
  }
  return out;
}

const DROP = 0.35; // of the size of a letter, from its middle to its baseline: not every program knows dominant-baseline

/** A name over a halo: two texts, because not every program knows paint-order. */
function svgText({ text, x, y, fontSize, bold }, theme) {
  const weight = bold ? ' font-weight="600"' : "", place = `x="${short(x)}" y="${short(y + DROP * fontSize)}" font-size="${fontSize}"${weight}`;
  const halo = `<text ${place} fill="none" stroke="${hex(theme.disk)}" stroke-width="3" stroke-linejoin="round" aria-hidden="true">`;
  return `${halo}${xml(text)}</text><text ${place} fill="${hex(theme.ink)}">${xml(text)}</text>`;
}

function svgLegend(lines, x, y, theme) {
  return lines.map(({ text, colour }, k) =>
    `<g transform="translate(${short(x)} ${short(y + 20 * k)})"><circle r="5" fill="${colour}"/>` +
    `<text x="12" y="${short(DROP * 13)}" font-size="13" fill="${hex(theme.ink)}">${xml(text)}</text></g>`);
}

function svgRings({ scene, frame, theme }) {
  return scene.rings.flatMap(({ pixels, text }) => [
    `<circle cx="${short(frame.cx)}" cy="${short(frame.cy)}" r="${short(pixels)}" fill="none" stroke="${hex(theme.line)}" stroke-opacity="0.45"/>`,
    `<text x="${short(frame.cx)}" y="${short(frame.cy - pixels + DROP * 11)}" font-size="11" text-anchor="middle" ` +
      `fill="${hex(theme.soft)}">${xml(text)}</text>`,
  ]);
}

function svgOf(app) {
  const { frame, theme, scene } = app, crop = cropOf(frame), lines = legendLines(app), side = lines.length ? 190 : 0;
  const { edges } = scene, arcs = [], links = [];
  for (let e = 0; e < edges.count; e++) {
    arcs.push(arcPath(arcOnScreen(scene, frame, edges.ends[2 * e], edges.ends[2 * e + 1], edges.turn[e])));
  }
  for (const { i, links: rows } of app.marks) {
    for (const j of rows) links.push(arcPath(arcOnScreen(scene, frame, i, j, turnBetween(scene, frame, i, j))));
  }
  if (rulerArc(app)) links.push(arcPath(rulerArc(app)));
  const [x, y, width, height] = [crop.x, crop.y, crop.width + side, crop.height].map(short);
  const disk = `cx="${short(frame.cx)}" cy="${short(frame.cy)}" r="${short(frame.scale)}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${x} ${y} ${width} ${height}" width="${width}" height="${height}" ` +
      'font-family="system-ui, sans-serif">',
    `<title>${xml(app.data.title)}</title>`,
    `<clipPath id="crop"><rect x="${x}" y="${y}" width="${short(crop.width)}" height="${height}"/></clipPath>`,
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${hex(theme.page)}"/>`,
    '<g clip-path="url(#crop)">',
    frame.open ? `<rect x="${x}" y="${y}" width="${short(crop.width)}" height="${height}" fill="${hex(theme.disk)}"/>`
      : `<circle ${disk} fill="${hex(theme.disk)}" stroke="${hex(theme.line)}"/>`,
    ...svgRings(app),
    `<path d="${arcs.join("")}" fill="none" stroke="${hex(theme.edge)}" stroke-opacity="${edges.alpha}" ` +
      `stroke-width="${edges.width}"/>`,
    `<path d="${links.join("")}" fill="none" stroke="${hex(theme.accent)}" stroke-width="1.5"/>`,
    `<g fill-opacity="${theme.opacity}">`, ...svgPoints(app), "</g>",
    ...svgDensity(app),
    ...svgRegions(app),
    ...svgThumbs(app),
    ...scene.names.map((name) => svgText(name, theme)), "</g>",
    ...svgLegend(lines, crop.x + crop.width + 12, crop.y + 24, theme), "</svg>\n",
  ].join("\n");
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
