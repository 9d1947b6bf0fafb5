// One colour per meaning, distinguishable for colour-blind readers and on both grounds.

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
  wait: "#9aa5b1",
};
// Of the rows of a comparison: a backward and its halves are shades of one colour.
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

export const categoryColour = (name) => CATEGORY[name] ?? UNKNOWN;
export const kindColour = (name) => KIND[name] ?? UNKNOWN;
export const lossColour = (name) => LOSS[name] ?? UNKNOWN;
export const originColour = (name) => ORIGIN[name] ?? UNKNOWN;

// From the first pipeline rank to the last.
export function rankColour(rank, ranks) {
  const share = ranks > 1 ? rank / (ranks - 1) : 0;
  return `hsl(${Math.round(215 + 165 * share)} 55% 52%)`;
}

// Colours of text and lines come from the style sheet, so that charts follow the page's theme.
export function theme() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  return {
    text: colour("--text"),
    muted: colour("--muted"),
    line: colour("--line"),
    ground: colour("--ground"),
    panel: colour("--panel"),
  };
}
