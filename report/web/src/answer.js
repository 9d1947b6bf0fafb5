// The page of a command that answers in tables: each chart where the page has a place for it.
import { drawMemory, drawShares } from "./bars.js";
import { categoryColour, lossColour } from "./colours.js";
import { shownShare } from "./figures.js";
import { drawInterval } from "./interval.js";
import { panel } from "./panel.js";
import { drawRanges } from "./ranges.js";
import { drawScatter } from "./scatter.js";

const COLOURS = { category: categoryColour, loss: lossColour };

const KINDS = {
  ranges: drawRanges,
  scatter: drawScatter,
  shares: (place, { title, of, shares }) =>
    drawShares(panel(place, title, 300), shares.filter(([, share]) => share >= shownShare), 1, COLOURS[of]),
  memory: (place, { title, memory }) => drawMemory(panel(place, title, 300), memory),
  interval: (place, { title, note, interval }) => drawInterval(panel(place, title, 300, note), interval),
};

export function drawAnswer({ charts }) {
  for (const place of document.querySelectorAll("[data-chart]")) {
    const chart = charts[Number(place.dataset.chart)];
    KINDS[chart.kind](place, chart);
  }
}
