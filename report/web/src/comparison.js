// The page of a comparison: sorting its table, and choosing which points are drawn.
import { drawPoints, fullName } from "./comparison_chart.js";
import { drawComparisonCurves } from "./comparison_curves.js";
import { division, element, panel, toggle } from "./dom.js";
import { groupTitle, intervalTitle } from "./figures.js";
import { MOVING } from "./gantt.js";
import { drawLosses } from "./losses.js";
import { drawRanges } from "./ranges.js";

const DRAWN_AT_FIRST = 3;

// A click on a column's title sorts by it; another click turns the order around.
export function makeSortable(table) {
  const body = table.tBodies[0];
  const keyOf = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
  };
  const titles = [...table.tHead.rows[0].cells];
  titles.forEach((title, column) => {
    title.tabIndex = 0;
    const sort = () => {
      const falling = title.getAttribute("aria-sort") === "ascending";
      for (const other of titles) other.removeAttribute("aria-sort");
      title.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const compare = (a, b) => {
        const [x, y] = [keyOf(a, column), keyOf(b, column)];
        return (x < y ? -1 : x > y ? 1 : 0) * (falling ? -1 : 1);
      };
      body.append(...[...body.rows].sort(compare));
    };
    title.addEventListener("click", sort);
    title.addEventListener("keydown", (event) => {
      if (event.key === "Enter") sort();
    });
  });
}

// The first point, which the others are measured against, and the fastest ones that fit.
function firstChoice(points) {
  const misfit = (index) => Number(points[index].excess !== "");
  const step_s = (index) => points[index].values[0];
  const fastest = [...points.keys()].sort((a, b) => misfit(a) - misfit(b) || step_s(a) - step_s(b));
  const unique = new Set([0, ...fastest]);
  return new Set([...unique].slice(0, DRAWN_AT_FIRST));
}

function chooser(points, chosen, changed) {
  const buttons = points.map((point, index) =>
    toggle(point.name, {}, chosen.has(index), (now) => {
      if (!now && chosen.size === 1) return false; // one is always drawn
      if (now) chosen.add(index);
      else chosen.delete(index);
      return changed();
    }),
  );
  const label = "points that are drawn";
  return element("div", { className: "chooser", role: "group", "aria-label": label }, ...buttons);
}

// In the order of the command line.
function drawLost(record, charts) {
  const points = record.points.filter(({ lost }) => lost);
  if (points.length < 2) return;
  const key = { name: "", labels: points.map(({ name }) => name) };
  const bars = points.map(({ lost }, i) => ({ i, lost }));
  drawLosses(panel(charts, groupTitle("campaign.lost"), 300), () => ({ key, bars }));
}

const MOST_RANGES = 24;

// Draws what points rank by, the best first, each with its interval.
function drawRanked(record, place) {
  const column = record.ranked_by ?? 0;
  const { key, title, unit } = record.columns[column];
  const shown = record.order.filter((index) => Number.isFinite(record.points[index].values[column]));
  const items = shown.slice(0, MOST_RANGES).map((index) => {
    const point = record.points[index];
    const { values, ranges, excess, facts } = point;
    const mean = values[column];
    const [low, high] = ranges?.[column] ?? [mean, mean];
    const best = record.best[index];
    return { name: fullName(point), mean, low, high, best, group: excess ? "does not fit" : "", tip: facts?.join("\n") ?? "", marks: {} };
  });
  if (items.length < 2) return;
  const left = shown.length - items.length;
  const models = key === "campaign.goodput" ? "were simulated under the same failures" : "use the same cost models";
  const note =
    `${intervalTitle}. All points ${models}, so their order is more certain than each value.` +
    (left > 0 ? ` The table has ${left} more points.` : "");
  drawRanges(place, { title: `${title} of each point`, note, axis: { name: title, unit }, items });
}

export function drawComparison(record, charts) {
  const table = document.getElementById("points");
  if (table) makeSortable(table);
  const curves = division(""); // before a table that may be long
  table?.closest(".scroll").before(curves);
  const ofTimes = (record.ranked_by ?? 0) === 0 && drawComparisonCurves(record, curves, chooser);
  if (!ofTimes) drawRanked(record, curves);
  drawLost(record, charts);
  const points = record.points.filter(({ drawing }) => drawing && drawing.rows.length > 0);
  if (points.length === 0) return;
  const chosen = firstChoice(points);
  const place = panel(
    charts,
    "One iteration, and memory over time",
    300,
    "All on one time axis. A row is a pipeline rank: its passes, and between them the communication " +
      "that it waits for. Underlined: the critical path, the tasks that set the step time. " +
      "Curves: memory of each pipeline rank.",
    MOVING,
  );
  let redraw = () => {};
  place.before(chooser(points, chosen, () => redraw()));
  redraw = drawPoints(place, record.kinds, points, chosen);
  charts.after(document.getElementById("infeasible") ?? "");
}
