// Okabe and Ito's colours, told apart by colour-blind readers too. On a dark page black is white and the blues are lighter.
const CLASSES = {
  light: ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#000000"],
  dark: ["#2A8FD6", "#E69F00", "#00AE80", "#E2641A", "#CC79A7", "#8CD0F7", "#F0E442", "#FFFFFF"],
};
const OTHER = { light: "#A9ABAF", dark: "#8A919B" };

// Ramps of steadily changing lightness: viridis, and one that keeps quiet until something is wrong.
const RAMPS = {
  value: {
    light: ["#FDE725", "#7AD151", "#22A884", "#2A788E", "#414487", "#440154"],
    dark: ["#46327E", "#365C8D", "#277F8E", "#1FA187", "#4AC16D", "#A0DA39", "#FDE725"],
  },
  distortion: {
    light: ["#A9BDCE", "#E8C37B", "#E69F00", "#D55E00", "#8A2B06"],
    dark: ["#3A4C5C", "#7F6A3B", "#C58400", "#F07A1C", "#FFC9A3"],
  },
};

const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const packed = ([r, g, b], a = 255) => ((a << 24) | (b << 16) | (g << 8) | r) >>> 0;
const hex = (colour) => `#${colour.map((v) => Math.round(v).toString(16).padStart(2, "0")).join("")}`;
const css = (colour) => hex([colour & 255, (colour >> 8) & 255, (colour >> 16) & 255]);

function along(ramp, fraction) {
  const at = Math.min(Math.max(fraction, 0), 1) * (ramp.length - 1), low = Math.min(Math.floor(at), ramp.length - 2);
  const a = rgb(ramp[low]), b = rgb(ramp[low + 1]);
  return a.map((v, k) => Math.round(v + (b[k] - v) * (at - low)));
}

/** What points can be coloured by: key, the words for it, and values or classes. */
function colourings(data) {
  const list = [];
  if (data.classes) list.push({ key: "label", words: "Label" });
  (data.columns || []).forEach((words, k) => {
    list.push({ key: `column-${k}`, words, ramp: RAMPS.value, values: data[`column-${k}`] });
  });
  list.push({ key: "radius", words: "Radius", ramp: RAMPS.value, values: data.radius });
  if (data.distortion) {
    list.push({ key: "distortion", words: "Local distortion", ramp: RAMPS.distortion, values: data.distortion, percent: true });
  }
  list.push({ key: "plain", words: "One colour" });
  return list;
}

/** The range of a ramp: all values, but for a hundredth at each end where these stretch it more than twofold. */
function rangeOf(values) {
  const sorted = values.filter(Number.isFinite).sort();
  if (!sorted.length) return [0, 1];
  const at = (fraction) => sorted[Math.round(fraction * (sorted.length - 1))];
  const [low, high] = [at(0.01), at(0.99)];
  return at(1) - at(0) > 2 * (high - low) && high > low ? [low, high] : [at(0), at(1)];
}

const classColour = (code, theme) => CLASSES[theme][code] || OTHER[theme];

/** A packed colour for each point. Class codes are in falling order of frequency: the first eight have their own. */
function coloursOf(data, colouring, theme) {
  const out = new Uint32Array(data.n);
  if (colouring.key === "label") {
    const table = data.classes.map((_, code) => packed(rgb(classColour(code, theme))));
    for (let i = 0; i < data.n; i++) out[i] = table[data.codes[i]];
  } else if (colouring.values) {
    colouring.range = colouring.range || rangeOf(colouring.values);
    const [low, high] = colouring.range, missing = packed(rgb(OTHER[theme]));
    const table = Array.from({ length: 256 }, (_, k) => packed(along(colouring.ramp[theme], k / 255)));
    for (let i = 0; i < data.n; i++) {
      const fraction = high > low ? (colouring.values[i] - low) / (high - low) : 0.5;
      out[i] = Number.isFinite(fraction) ? table[Math.round(255 * Math.min(Math.max(fraction, 0), 1))] : missing;
    }
  } else out.fill(packed(rgb(CLASSES[theme][0])));
  return out;
}

const digits = (value) => {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e9) return String(value);
  return size < 1e-3 || size >= 1e6 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
};
const written = (value, colouring) =>
  colouring.percent && Number.isFinite(value) ? `${(100 * value).toFixed(1)} %` : digits(value);
