// A comparison over a key of numbers, such as a bandwidth: the step time along it, or how many times
// faster than the first value of the other key, and what exchanges between islands leave of the
// time, a curve for each of these.
import { escapeHtml } from "./chart.js";
import { figureOf, percentText, secondsText, tickText } from "./figures.js";
import { drawKeyCurves } from "./key_curves.js";
import { panel } from "./dom.js";
import { gridOf } from "./sweep_data.js";

const LEAST_NUMBERS = 3;
const DRAWN_AT_FIRST = 8;

// Every comparison has the step time in its first column.
const stepTime = (point) => point.values[0];

// Finds the key with numbers to draw the curves along, and the other key; null if there is none.
function keysOf(grid) {
  const along = grid.keys.findIndex(({ numbers }) => numbers?.length >= LEAST_NUMBERS);
  if (along < 0 || grid.keys.length > 2) return null;
  return { along, other: grid.keys.length === 2 ? 1 - along : -1 };
}

function lineOf(grid, { along, other }, row) {
  return grid.keys[along].values.flatMap((value, i) => {
    const point = grid.at(other < 0 ? [value] : along === 0 ? [value, row] : [row, value]);
    return point ? [{ i, point }] : [];
  });
}

// The metric of jobs whose islands exchange; other jobs have none.
function utilisation(columns) {
  const key = "iteration.sync_utilization";
  const at = columns.findIndex((column) => column.key === key);
  if (at < 0) return [];
  const of = ({ point }) => point.values[at];
  return [{ name: figureOf(key).title, share: true, text: percentText, of }];
}

function metricsOf(first, columns) {
  const name = figureOf("iteration.time_s").title;
  const range = ({ point }) => point.ranges?.[0]; // drawn where there is one curve alone
  const times = { name, log: true, text: secondsText, tick: (x) => tickText("seconds", x), of: ({ point }) => stepTime(point), range };
  if (!first) return [times, ...utilisation(columns)];
  const base = new Map(first.line.map(({ i, point }) => [i, stepTime(point)]));
  return [
    {
      name: `times as fast as ${first.name}`,
      log: true,
      text: (x) => `${Number(x.toPrecision(3))}`,
      tick: (x) => `${Number(x.toPrecision(6))}`,
      of: ({ i, point }) => (base.has(i) ? base.get(i) / stepTime(point) : null),
    },
    times,
    ...utilisation(columns),
  ];
}

function tooltipOf(curve, key, { i, point }) {
  const rows = [curve.name, `${key.key} = ${key.values[i]}`, secondsText(stepTime(point))];
  return rows.filter((row) => row).map(escapeHtml).join("<br>");
}

// The first one, and those that are the fastest somewhere, then the faster ones.
function firstChoice(lines) {
  const total = ({ line }) => line.reduce((sum, { point }) => sum + Math.log(stepTime(point)), 0);
  const best = new Map();
  lines.forEach(({ line }, at) => {
    for (const { i, point } of line) {
      if (!best.has(i) || stepTime(point) < best.get(i).time) best.set(i, { time: stepTime(point), at });
    }
  });
  const order = [...lines.keys()].sort((a, b) => total(lines[a]) - total(lines[b]));
  const wanted = new Set([0, ...[...best.values()].map(({ at }) => at), ...order]);
  return new Set([...wanted].slice(0, DRAWN_AT_FIRST));
}

const capitalised = (text) => text[0].toUpperCase() + text.slice(1);

function viewOf(grid, keys, lines, chosen, metric) {
  const key = grid.keys[keys.along];
  const curves = [...chosen]
    .sort((a, b) => a - b)
    .map((at) => ({
      name: lines[at].name,
      points: lines[at].line.flatMap((place) => {
        const value = metric.of(place);
        if (value === null) return [];
        const [low, high] = (chosen.size === 1 && metric.range?.(place)) || [value, value];
        const estimate = { mean: value, low, high };
        return [{ i: place.i, estimate, tooltip: () => tooltipOf(lines[at], key, place) }];
      }),
    }));
  return { metric, key, curves, ordered: false };
}

// `chooser(points, chosen, changed)` makes the buttons that choose curves. Returns whether there are
// any.
export function drawComparisonCurves(record, charts, chooser) {
  if (!record.vary) return false; // of an older version
  const grid = gridOf(record);
  const keys = keysOf(grid);
  if (!keys) return false;
  const rows = keys.other < 0 ? [""] : grid.keys[keys.other].values;
  const lines = rows
    .map((name) => ({ name, line: lineOf(grid, keys, name) }))
    .filter(({ line }) => line.length > 0);
  if (lines.length === 0) return false;
  const chosen = firstChoice(lines);
  const draws = metricsOf(lines.length > 1 ? lines[0] : null, record.columns).map((metric) => {
    const element = panel(charts, capitalised(`${metric.name} over ${grid.keys[keys.along].key}`), 380, "");
    return { element, chart: drawKeyCurves(element, () => viewOf(grid, keys, lines, chosen, metric)) };
  });
  if (lines.length > 1) {
    const redraw = () => draws.forEach(({ chart }) => chart.redraw());
    draws[0].element.before(chooser(lines, chosen, redraw));
  }
  return true;
}
