// The page of a sweep: a curve over one key; over two keys a heat map and curves. What is shown,
// along which keys, and where further keys stand is the reader's choice.
import { makeSortable } from "./comparison.js";
import { choice, division, element, panel } from "./dom.js";
import { groupTitle, intervalTitle } from "./figures.js";
import { drawHeatMap, scaleLegend, spanOf } from "./heat_map.js";
import { drawLosses } from "./losses.js";
import { drawKeyCurves } from "./key_curves.js";
import { gridOf, lostShares, metricsOf, pointText } from "./sweep_data.js";

const MOST_CURVES = 8;

// The values of all keys, by index, with those of two keys replaced.
function valuesAt(grid, state, x, y) {
  return grid.keys.map(({ values }, k) => {
    const at = k === state.across ? x : k === state.down ? y : state.fixed[k];
    return values[at];
  });
}

function cellsOf(grid, state, metrics) {
  const cells = [];
  grid.keys[state.down].values.forEach((_, y) => {
    grid.keys[state.across].values.forEach((__, x) => {
      const point = grid.at(valuesAt(grid, state, x, y));
      if (!point) return;
      const value = (point.result && state.metric.of(point)?.mean) ?? null;
      cells.push({
        x,
        y,
        value,
        text: value === null ? "" : state.metric.text(value).replace(" %", ""),
        best: grid.isBest(point),
        tooltip: () => pointText(point, metrics),
      });
    });
  });
  return cells;
}

function curveAt(grid, state, metrics, y) {
  return grid.keys[state.across].values.flatMap((_, i) => {
    const point = grid.at(valuesAt(grid, state, i, y));
    const estimate = point?.result && state.metric.of(point);
    if (!estimate) return [];
    return [{ i, estimate, best: grid.isBest(point), tooltip: () => pointText(point, metrics) }];
  });
}

// Where the best point stands, or the first.
function startOf(grid) {
  return grid.keys.map(({ key, values }) => Math.max(0, values.indexOf(grid.best?.set[key])));
}

// Takes some of many values, evenly, and the best point's.
function someValues(count, best) {
  if (count <= MOST_CURVES) return [...Array(count).keys()];
  const even = Array.from({ length: MOST_CURVES - 1 }, (_, i) =>
    Math.round((i * (count - 1)) / (MOST_CURVES - 2)),
  );
  return [...new Set([...even, best])].sort((a, b) => a - b);
}

function curvesOf(grid, state, metrics) {
  if (state.down < 0) return [{ name: "", points: curveAt(grid, state, metrics, 0) }];
  const { key, labels } = grid.keys[state.down];
  const short = key.split(".").at(-1);
  return someValues(labels.length, startOf(grid)[state.down]).map((y) => ({
    name: `${short} ${labels[y]}`,
    points: curveAt(grid, state, metrics, y),
  }));
}

function keyChoices(controls, grid, state, changed) {
  const names = grid.keys.map(({ key }) => key);
  const rest = element("span");
  const selects = {};
  const fill = () => {
    rest.replaceChildren();
    grid.keys.forEach((key, k) => {
      if (k === state.across || k === state.down) return;
      choice(rest, `${key.key} `, key.values, state.fixed[k], (at) => {
        state.fixed[k] = at;
        changed();
      });
    });
  };
  // Choosing the key of the other axis swaps the two.
  const choose = (axis, other) => (k) => {
    if (k === state[other]) state[other] = state[axis];
    state[axis] = k;
    for (const name of ["across", "down"]) selects[name].value = String(state[name]);
    fill();
    changed();
  };
  selects.across = choice(controls, "across ", names, state.across, choose("across", "down"));
  selects.down = choice(controls, "down ", names, state.down, choose("down", "across"));
  controls.append(rest);
  fill();
}

function addHeatMap(parent, grid, state, metrics) {
  const place = panel(parent, "All points", 400, "");
  const legend = division("legend");
  place.before(legend);
  const fit = () => {
    const rows = grid.keys[state.down].values.length;
    place.style.height = `${rows * Math.min(34, Math.max(11, 560 / rows)) + 58}px`;
  };
  const view = () => {
    const cells = cellsOf(grid, state, metrics);
    const span = spanOf(cells, state.metric.better);
    const missing = cells.some(({ value }) => value === null);
    scaleLegend(legend, state.metric, span, grid.anyBest, missing);
    return { across: grid.keys[state.across], down: grid.keys[state.down], cells, span };
  };
  fit();
  const chart = drawHeatMap(place, view);
  return () => {
    fit();
    chart.resize();
    chart.redraw();
  };
}

function addLosses(parent, grid, state) {
  const note = grid.keys.length > 1 ? "All other keys at the best point's value." : "";
  const place = panel(parent, groupTitle("campaign.lost"), 300, note);
  const at = startOf(grid);
  const view = () => ({
    key: grid.keys[state.across],
    bars: grid.keys[state.across].values.flatMap((_, i) => {
      const values = grid.keys.map((key, k) => key.values[k === state.across ? i : at[k]]);
      const lost = lostShares(grid.at(values)?.result);
      return lost ? [{ i, lost }] : [];
    }),
  });
  return drawLosses(place, view).redraw;
}

export function drawSweep(record, charts) {
  const table = document.getElementById("points");
  if (table) makeSortable(table);
  const grid = gridOf(record);
  const metrics = metricsOf(record.metrics ?? [], record.points);
  if (metrics.length === 0) return; // nothing ran
  const keys = grid.keys.length;
  // The last key changes fastest: across.
  const state = { metric: metrics[0], across: keys - 1, down: keys - 2, fixed: startOf(grid) };
  const redraws = [];
  const changed = () => redraws.forEach((redraw) => redraw());

  const controls = division("controls");
  charts.append(controls);
  const names = metrics.map(({ name }) => name);
  choice(controls, "show ", names, 0, (index) => {
    state.metric = metrics[index];
    changed();
  });
  if (keys > 1) {
    keyChoices(controls, grid, state, changed);
    redraws.push(addHeatMap(charts, grid, state, metrics));
  }
  const note = `Bands: ${intervalTitle} of the mean over replicas, drawn with the same random numbers everywhere.`;
  const curves = panel(charts, keys > 1 ? "Along one key" : `Over ${grid.keys[0].key}`, 360, note);
  const view = () => ({
    metric: state.metric,
    key: grid.keys[state.across],
    curves: curvesOf(grid, state, metrics),
    ordered: true,
  });
  redraws.push(drawKeyCurves(curves, view).redraw);
  redraws.push(addLosses(charts, grid, state));
  charts.after(...["certainty", "table", "infeasible"].flatMap((id) => document.getElementById(id) ?? []));
}
