// The charts of one run.
import { drawMemory, drawShares } from "./bars.js";
import { link } from "./chart.js";
import { categoryColour, lossColour, originColour } from "./colours.js";
import { figureOf, groupTitle, shownShare } from "./figures.js";
import { drawGantt } from "./gantt.js";
import { drawInterval } from "./interval.js";
import { drawCurves } from "./memory_curves.js";
import { division, panel } from "./dom.js";

function below(charts, className = "") {
  charts.append(division(className));
  return charts.lastChild;
}

const pair = (charts) => below(charts, "pair");

// What would be labelled "0.0 %" is left out.
function shown(entries, whole) {
  return entries.filter(([, value]) => value >= shownShare * whole);
}

// Charts side by side. All have their places before the first is drawn: alone in the grid it would
// take the width of all.
function drawBeside(place, charts) {
  const places = charts.map(({ title, height }) => panel(place, title, height));
  charts.forEach(({ draw }, i) => draw(places[i]));
}

// Below the figures the reasons of the step time and of the memory, then the iteration; tables follow.
// Each row of charts has a place of its own, which `inTurn(place, draw)` has drawn.
export function drawRun({ result, memory, gantt }, charts, inTurn = (_, draw) => draw()) {
  document.querySelector("main > .figures")?.after(charts);
  const row = (place, draw) => inTurn(place, () => draw(place));
  row(pair(charts), (place) => {
    const { critical_path_s: path, time_s: whole } = result.iteration;
    const step = {
      title: groupTitle("iteration.critical_path_s"),
      height: 250,
      draw: (at) => drawShares(at, shown(Object.entries(path), whole), whole, categoryColour),
    };
    const bytes = {
      title: "Memory per GPU by pipeline rank",
      height: 250,
      draw: (at) => drawMemory(at, memory),
    };
    drawBeside(place, memory.ranks.length > 0 ? [step, bytes] : [step]);
  });
  if (gantt.tracks.length > 0) {
    let drawn; // before the curves, or with them
    row(below(charts), (place) => {
      drawn = drawGantt(place, gantt, true);
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
        "All intervals are simulated under the same failures. The formula assumes a constant rate, exponential gaps and this tier alone.";
      drawInterval(panel(place, `${groupTitle("campaign.interval")} (${interval.tier})`, 340, note), interval);
    });
  }
  row(pair(charts), (place) => {
    const basis = {
      title: groupTitle("origin"),
      height: 300,
      draw: (at) => drawShares(at, shown(Object.entries(result.origin), 1), 1, originColour),
    };
    if (!result.campaign?.wall_s) return drawBeside(place, [basis]);
    const { lost_s, useful_s, wall_s } = result.campaign;
    const lost = Object.entries(lost_s).map(([cause, x]) => [cause, x.mean]);
    const spent = shown([[figureOf("campaign.useful_s").title, useful_s.mean], ...lost], wall_s.mean);
    const wall = {
      title: groupTitle("campaign.lost"),
      height: 300,
      draw: (at) => drawShares(at, spent, wall_s.mean, lossColour),
    };
    drawBeside(place, [wall, basis]);
  });
}
