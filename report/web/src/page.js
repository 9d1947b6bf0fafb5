// Draws the charts of one run from the record that the page carries.
import { drawGantt } from "./gantt.js";
import { drawMemory, drawShares } from "./bars.js";
import { categoryColour, lossColour, originColour } from "./colours.js";

const record = JSON.parse(document.getElementById("record").textContent);
const charts = document.getElementById("charts");

// A titled place for a chart; `parent` may be a grid of two.
function panel(parent, title, heightPx, note) {
  const figure = document.createElement("figure");
  const caption = document.createElement("figcaption");
  caption.textContent = title;
  figure.append(caption);
  if (note) {
    const line = document.createElement("p");
    line.className = "note";
    line.textContent = note;
    figure.append(line);
  }
  const chart = document.createElement("div");
  chart.className = "chart";
  chart.style.height = `${heightPx}px`;
  figure.append(chart);
  parent.append(figure);
  return chart;
}

function pair() {
  const grid = document.createElement("div");
  grid.className = "pair";
  charts.append(grid);
  return grid;
}

// What would be labelled "0.0 %" is left out.
function shown(entries, whole) {
  return entries.filter(([, value]) => value >= 0.0005 * whole);
}

const { result, memory, gantt } = record;

if (gantt.tracks.length > 0) {
  drawGantt(panel, charts, gantt);
}

const first = pair();
if (memory.ranks.length > 0) {
  drawMemory(panel(first, "Memory per GPU by pipeline rank", 340), memory);
}
drawShares(
  panel(first, "Where the step time goes (critical path)", 340),
  shown(Object.entries(result.iteration.critical_path_s), result.iteration.time_s),
  result.iteration.time_s,
  categoryColour,
);

const second = pair();
if (result.campaign?.wall_s) {
  const lost = Object.entries(result.campaign.lost_s).map(([cause, x]) => [cause, x.mean]);
  drawShares(
    panel(second, "Where the wall time goes (campaign)", 300),
    shown([["useful", result.campaign.useful_s.mean], ...lost], result.campaign.wall_s.mean),
    result.campaign.wall_s.mean,
    lossColour,
  );
}
drawShares(
  panel(second, "What the predicted time rests on", 300),
  shown(Object.entries(result.origin), 1),
  1,
  originColour,
);

document.body.dataset.ready = "1";
