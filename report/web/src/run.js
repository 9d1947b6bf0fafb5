// The charts of one run.
import { drawMemory, drawShares } from "./bars.js";
import { link } from "./chart.js";
import { categoryColour, lossColour, originColour } from "./colours.js";
import { figureOf, groupTitle, shownShare } from "./figures.js";
import { drawGantt } from "./gantt.js";
import { drawInterval } from "./interval.js";
import { drawCurves } from "./memory_curves.js";
import { panel } from "./panel.js";

function pair(charts) {
  const grid = document.createElement("div");
  grid.className = "pair";
  charts.append(grid);
  return grid;
}

function below(charts) {
  const place = document.createElement("div");
  charts.append(place);
  return place;
}

// What would be labelled "0.0 %" is left out.
function shown(entries, whole) {
  return entries.filter(([, value]) => value >= shownShare * whole);
}

// Below the figures the reasons of the step time and of the memory, then the iteration; tables follow.
// Each row of charts has a place of its own, which `inTurn(place, draw)` has drawn.
export function drawRun({ result, memory, gantt }, charts, inTurn = (_, draw) => draw()) {
  document.querySelector("main > .figures")?.after(charts);
  const row = (place, draw) => inTurn(place, () => draw(place));
  row(pair(charts), (place) => {
    drawShares(
      panel(place, groupTitle("iteration.critical_path_s"), 250),
      shown(Object.entries(result.iteration.critical_path_s), result.iteration.time_s),
      result.iteration.time_s,
      categoryColour,
    );
    if (memory.ranks.length > 0) {
      drawMemory(panel(place, "Memory per GPU by pipeline rank", 250), memory);
    }
  });
  if (gantt.tracks.length > 0) {
    let drawn; // before the curves, or with them
    row(below(charts), (place) => {
      drawn = drawGantt(panel, place, gantt, true);
      link(drawn.top, drawn.chart);
    });
    if (memory.curves.ranks.length > 0) {
      row(below(charts), (place) =>
        link(drawn.top, drawn.chart, drawCurves(place, memory.curves, gantt, drawn.labelWidth)),
      );
    }
  }
  const interval = result.campaign?.interval;
  if (interval && interval.points.length > 1) {
    row(below(charts), (place) => {
      const note =
        "Every interval met the same failures. The formula knows one rate, exponential gaps and this tier only.";
      drawInterval(panel(place, `${groupTitle("campaign.interval")} (${interval.tier})`, 340, note), interval);
    });
  }
  row(pair(charts), (place) => {
    if (result.campaign?.wall_s) {
      const lost = Object.entries(result.campaign.lost_s).map(([cause, x]) => [cause, x.mean]);
      drawShares(
        panel(place, groupTitle("campaign.lost"), 300),
        shown([[figureOf("campaign.useful_s").title, result.campaign.useful_s.mean], ...lost], result.campaign.wall_s.mean),
        result.campaign.wall_s.mean,
        lossColour,
      );
    }
    drawShares(panel(place, groupTitle("origin"), 300), shown(Object.entries(result.origin), 1), 1, originColour);
  });
}
