// Colours. Those of classes, and the ramps, are part of the data of the page: Python chooses them.

const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const packed = ([r, g, b], a = 255) => ((a << 24) | (b << 16) | (g << 8) | r) >>> 0;
const hex = (colour) => `#${colour.map((v) => Math.round(v).toString(16).padStart(2, "0")).join("")}`;
const css = (colour) => hex([colour & 255, (colour >> 8) & 255, (colour >> 16) & 255]);

function along(ramp, fraction) {
  const at = Math.min(Math.max(fraction, 0), 1) * (ramp.length - 1), low = Math.min(Math.floor(at), ramp.length - 2);
  const a = rgb(ramp[low]), b = rgb(ramp[low + 1]);
  return a.map((v, k) => Math.round(v + (b[k] - v) * (at - low)));
}

/** The columns that points can be coloured by: a key, the name on the page (`words`), and values or classes. */
function colourings(data) {
  const list = data.labelings.map((labeling, k) => ({ key: k ? `label-${k}` : "label", words: labeling.name, labeling }));
  (data.columns || []).forEach((column, k) => {
    list.push({ key: `column-${k}`, words: column.name, ramp: "value", values: data[`column-${k}`], ranges: column.ranges });
  });
  list.push({ key: "radius", words: "Radius", ramp: "value", values: data.radius, ranges: data.radii });
  for (const { name, good, ...more } of data.measures || []) { // of very many points some measures are known in the mean only
    list.push({ ...more, words: name, ramp: good ? "trust" : "distrust", values: data[more.key], ranges: { linear: [0, 1] }, percent: true, trust: true });
  }
  list.push({ key: "plain", words: "One colour" });
  return list;
}

/** The measures of each point, where the picture is the one that was measured. */
const measuresOf = (app) => (app.isMeasured() ? app.colourings.filter(({ trust, values }) => trust && values) : []);

/** A function from a value to its position on the scale, 0 at the low end and 1 at the high one; NaN if it has none. */
function fractionOn(scale, [low, high]) {
  if (scale === "log") return (value) => (value > 0 ? Math.log(value / low) / Math.log(high / low) : NaN);
  return (value) => (high > low ? (value - low) / (high - low) : value === low ? 0.5 : NaN);
}

/** The inverse of `fractionOn`: a function from a position to the value. */
const valueOn = (scale, [low, high]) => (part) => (scale === "log" ? low * (high / low) ** part : low + part * (high - low));

const rampOf = (data, colouring, scale, theme) => data.ramps[scale === "diverging" ? "diverging" : colouring.ramp][theme];

/** A packed colour for each point. */
function coloursOf(data, colouring, scale, theme) {
  const out = new Uint32Array(data.n);
  if (colouring.labeling) {
    const { codes } = colouring.labeling, table = colouring.labeling[theme].map((colour) => packed(rgb(colour)));
    for (let i = 0; i < data.n; i++) out[i] = table[codes[i]];
  } else if (colouring.values) {
    const part = fractionOn(scale, colouring.ranges[scale]), missing = packed(rgb(data.other[theme]));
    const ramp = rampOf(data, colouring, scale, theme), table = Array.from({ length: 256 }, (_, k) => packed(along(ramp, k / 255)));
    for (let i = 0; i < data.n; i++) {
      const fraction = part(colouring.values[i]);
      out[i] = Number.isFinite(fraction) ? table[Math.round(255 * Math.min(Math.max(fraction, 0), 1))] : missing;
    }
  } else out.fill(packed(rgb(data.plain[theme])));
  return out;
}

/** Colours with those of points that are not lit blended into the page. */
function dimmed(colours, lit, page) {
  const faint = (v, ground) => Math.round(0.16 * (v & 255) + 0.84 * ground);
  return colours.map((colour, i) => (lit[i] ? colour
    : packed([faint(colour, page[0]), faint(colour >> 8, page[1]), faint(colour >> 16, page[2])])));
}

const digits = (value) => {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e9) return String(value);
  return size < 1e-3 || size >= 1e6 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
};
const written = (value, colouring) =>
  colouring.percent && Number.isFinite(value) ? `${(100 * value).toFixed(1)} %` : digits(value);
