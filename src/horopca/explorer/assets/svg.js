// An SVG with the interface of a canvas: the same functions paint the page, a PNG and an SVG. Circles and arcs are not flattened.

/** Text for XML: markup is escaped, and characters that XML does not allow are dropped. */
const xml = (text) =>
  text.replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, "")
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const short = (value) => String(Number(value.toFixed(2)));
const DROP = 0.35; // of the size of a letter, from its middle to its baseline: not every program knows dominant-baseline

/** The part of CanvasRenderingContext2D that the page uses, in elements and attributes that every program draws. */
function newSVG() {
  const elements = []; // [tag, attributes, text]
  let path = "", circle = null, pen = null, dashes = [], filled = null; // `filled`: the attributes of the path once it is filled
  const add = (tag, attributes, text = "") => { elements.push([tag, attributes, text]); return attributes; };
  /** A colour of the page, #rrggbb or rgb(r g b / a), as attributes. */
  const colour = (kind, style) => {
    const [r, g, b, a = 1] = style.startsWith("#") ? rgb(style) : style.match(/[\d.]+/g).map(Number), opacity = a * context.globalAlpha;
    return { [kind]: hex([r, g, b]), ...(opacity < 1 && { [`${kind}-opacity`]: opacity }) };
  };
  const fill = () => colour("fill", context.fillStyle);
  const line = () => ({ ...colour("stroke", context.strokeStyle), "stroke-width": context.lineWidth,
    ...(dashes.length && { "stroke-dasharray": dashes.join(" ") }) });
  const shape = (style) => (circle ? add("circle", { ...circle, ...style }) : path ? add("path", { d: path, ...style }) : null);
  const write = (text, x, y, style) => {
    const [, bold, size] = /^(600 )?(\d+)px/.exec(context.font);
    add("text", { x, y: y + DROP * size, "font-size": size, ...(bold && { "font-weight": 600 }),
      ...(context.textAlign === "center" && { "text-anchor": "middle" }), ...style }, xml(text));
  };
  const move = (letter, x, y) => { path += `${letter}${short(x)} ${short(y)}`; pen = [x, y]; };
  const context = {
    globalAlpha: 1, textAlign: "left",
    beginPath: () => { [path, circle, pen, filled] = ["", null, null, null]; },
    moveTo: (x, y) => move("M", x, y),
    lineTo: (x, y) => move(pen ? "L" : "M", x, y),
    closePath: () => { path += "Z"; },
    arc: (x, y, r, from, to, back) => { // a whole circle, or less than half of one that starts at the pen
      if (!pen) circle = { cx: x, cy: y, r };
      else move(`A${short(r)} ${short(r)} 0 0 ${back ? 0 : 1} `, x + r * Math.cos(to), y + r * Math.sin(to));
    },
    fill: () => { filled = shape(fill()); },
    stroke: () => { if (filled) Object.assign(filled, line()); else shape({ fill: "none", ...line() }); },
    fillRect: (x, y, width, height) => add("rect", { x, y, width, height, ...fill() }),
    strokeRect: (x, y, width, height) => add("rect", { x, y, width, height, fill: "none", ...line() }),
    fillText: (text, x, y) => write(text, x, y, fill()),
    strokeText: (text, x, y) => write(text, x, y, { fill: "none", ...line(), "stroke-linejoin": "round", "aria-hidden": "true" }),
    drawImage: (image, x, y, width, height) => add("image", { x, y, width, height, href: xml(image.src) }),
    setLineDash: (lengths) => { dashes = lengths; },
  };

  /** The drawing so far, cut to a box, as text. */
  context.cropped = ({ x, y, width, height }) => [
    `<clipPath id="crop"><rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"/></clipPath>`,
    '<g clip-path="url(#crop)">', ...context.taken(), "</g>"];

  /** The drawing so far as lines of text; what is painted next begins a new one. */
  context.taken = () => elements.splice(0).map(([tag, attributes, text]) => {
    const list = Object.entries(attributes).map(([key, value]) => ` ${key}="${typeof value === "number" ? short(value) : value}"`).join("");
    return text ? `<${tag}${list}>${text}</${tag}>` : `<${tag}${list}/>`;
  });
  return context;
}
