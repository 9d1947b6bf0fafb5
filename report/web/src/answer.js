// The page of a command that answers in tables: each chart where the page has a place for it.
import { drawMemory, drawShares } from "./bars.js";
import { link } from "./chart.js";
import { categoryColour, lossColour } from "./colours.js";
import { shownShare, writePlainly } from "./figures.js";
import { drawGantt } from "./gantt.js";
import { drawInterval } from "./interval.js";
import { drawCurves } from "./memory_curves.js";
import { panel } from "./dom.js";
import { drawRanges } from "./ranges.js";
import { drawScatter } from "./scatter.js";

const COLOURS = { category: categoryColour, loss: lossColour };

const KINDS = {
  gantt: drawOrder,
  ranges: drawRanges,
  scatter: drawScatter,
  shares: (place, { title, of, shares }) =>
    drawShares(panel(place, title, 300), shares.filter(([, share]) => share >= shownShare), 1, COLOURS[of]),
  memory: (place, { title, memory }) => drawMemory(panel(place, title, 300), memory),
  interval: (place, { title, note, interval }) => drawInterval(panel(place, title, 300, note), interval),
};

// Draws tasks of ranks, and for a schedule the memory of its ranks on the same axis.
function drawOrder(place, { gantt, curves }) {
  const { chart, top, labelWidth } = drawGantt(place, gantt);
  link(top, chart, ...(curves ? [drawCurves(place, curves, gantt, labelWidth)] : []));
}

export function drawAnswer({ charts, plain }) {
  plain.forEach(writePlainly);
  for (const place of document.querySelectorAll("[data-chart]")) {
    const chart = charts[Number(place.dataset.chart)];
    KINDS[chart.kind](place, chart);
  }
}
