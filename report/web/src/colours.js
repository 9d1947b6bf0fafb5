// Each meaning has one colour. Colour-blind readers can tell them apart on light and dark grounds.

const CATEGORY = {
  forward: "#6b9bd1",
  backward: "#76b7b2",
  recompute: "#a0cbe8",
  optimizer: "#b07aa1",
  tp: "#f28e2b",
  cp: "#ffbe7d",
  pp: "#e15759",
  ep: "#d37295",
  dp: "#edc948",
  snapshot: "#59a14f",
  host: "#9c755f",
  compression: "#86bcb6",
  sync: "#499894",
  offload: "#8cd17d",
  filling: "#d4a6c8",
  input: "#d7b5a6",
  wait: "#9aa5b1",
};
// Colours of the rows of a comparison: a backward and its halves are shades of one colour.
const KIND = {
  forward: "#6b9bd1",
  backward: "#5fb3aa",
  "input gradient": "#93d3ca",
  "weight gradient": "#3f958c",
  recompute: "#b5d3ee",
  "forward + backward": "#a391d9",
  optimizer: "#b0628f",
  message: "#e15759",
  collective: "#edc948",
  filling: "#d4a6c8",
  other: "#9aa5b1",
};
const LOSS = {
  useful: "#4e79a7",
  stall: "#59a14f",
  redo: "#e15759",
  detect: "#edc948",
  restart: "#f28e2b",
  degraded: "#b07aa1",
  wait: "#9aa5b1",
  sync: "#76b7b2",
  evaluate: "#9c755f",
  log: "#d7b5a6",
};
const ORIGIN = {
  measured: "#59a14f",
  published: "#4e79a7",
  spec: "#edc948",
  assumed: "#e15759",
};
export const MEMORY = {
  weights: "#4e79a7",
  gradients: "#a0cbe8",
  optimizer: "#b07aa1",
  activations: "#f28e2b",
  buffers: "#edc948",
  framework: "#9aa5b1",
};
const UNKNOWN = "#7f7f7f";

export const categoryColour = (name) => CATEGORY[name] ?? KIND[name] ?? UNKNOWN;
export const kindColour = (name) => KIND[name] ?? UNKNOWN;
export const lossColour = (name) => LOSS[name] ?? UNKNOWN;
export const originColour = (name) => ORIGIN[name] ?? UNKNOWN;

// From the first pipeline rank to the last.
export function rankColour(rank, ranks) {
  const share = ranks > 1 ? rank / (ranks - 1) : 0;
  return `hsl(${Math.round(215 + 165 * share)} 55% 52%)`;
}

// Viridis from dark to light: its lightness rises evenly, so colour-blind readers see the order.
export const SCALE = ["#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725"];

// Whether light colours stand out from this ground.
const isDark = (ground) => rgb(ground).reduce((sum, channel) => sum + channel, 0) < 384;

function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

// Red, green and blue at this share of the scale.
export function scaleColour(share) {
  const at = Math.min(0.999999, Math.max(0, share)) * (SCALE.length - 1);
  const from = rgb(SCALE[Math.floor(at)]);
  const to = rgb(SCALE[Math.floor(at) + 1]);
  return from.map((channel, i) => Math.round(channel + (at % 1) * (to[i] - channel)));
}

// Black or white, whichever is read better on it: at least 4.5 times as light or as dark.
export function textOn(channels) {
  const linear = channels.map((c) => (c <= 10 ? c / 3295 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179 ? "#000" : "#fff";
}

// Colours of curves in an order; the lightest part of the scale would be lost on a light ground, the
// darkest on a dark one.
export function orderedColour(index, count, { dark }) {
  const share = count > 1 ? index / (count - 1) : 0;
  return `rgb(${scaleColour((dark ? 0.35 : 0.1) + 0.6 * share).join(" ")})`;
}

// Colours of curves without an order (Tableau 10); more than ten repeat.
const UNORDERED = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#76b7b2", "#9c755f"].concat(
  ["#d37295", "#b6992d", "#79706e"],
);
export const unorderedColour = (index) => UNORDERED[index % UNORDERED.length];

// Colours of text and lines come from the style sheet, so that charts follow the page's theme.
export function theme() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  return {
    onPaper: document.documentElement.classList.contains("on-paper"),
    text: colour("--text"),
    muted: colour("--muted"),
    line: colour("--line"),
    ground: colour("--ground"),
    dark: isDark(colour("--ground")),
    panel: colour("--panel"),
  };
}
