// Gantt charts and memory curves of the chosen points, one below the other in one chart, so that
// all share the time axis, which stays in view above them with its slider.
import { axisStyle, draw, link, timeAxis, timeZoom } from "./chart.js";
import { kindColour } from "./colours.js";
import { division, element } from "./dom.js";
import { secondsText } from "./figures.js";
import { TASK_CELLS, addTooltip, flagsOf, labelWidthOf, lookOf, rowRenderer, taskCells, taskText } from "./gantt.js";
import { searchBox } from "./gantt_tools.js";
import { axisTop, curveSeries, curvesOf, highest, memoryAxis, peakText } from "./memory_curves.js";
import { addTools, drawHead, showRange, steer } from "./time_axis.js";

const TITLE_PX = 24; // a line
const NARROW_PX = 700; // below it a point's name has a line of its own
const MEMORY_PX = 110;
const GAP_PX = 10;
const BELOW_PX = 20; // labels of the last time axis

// With its key, where its name is the value alone.
export function fullName({ name, set }) {
  const keys = Object.keys(set ?? {});
  return keys.length === 1 ? `${keys[0]} = ${name}` : name;
}

// Rows as gantt.js draws them: times in ns. Records of older programs do not say what is critical.
function rowsOf({ drawing, ...point }) {
  return drawing.rows.map((row) => {
    let tick = 0;
    const start_ns = row.gap.map((gap, i) => {
      const start = tick + gap;
      tick = start + row.duration[i];
      return start * drawing.tick_ns;
    });
    return {
      label: row.rank,
      rank: row.rank,
      group: fullName(point),
      critical: flagsOf(row.critical ?? [], row.gap.length),
      start_ns,
      duration_ns: row.duration.map((ticks) => ticks * drawing.tick_ns),
      category: [...row.kind].map((letter) => letter.charCodeAt(0) - 97),
      name: row.name.split(";"),
    };
  });
}

function paneOf(point) {
  const rows = rowsOf(point);
  const curves = curvesOf(point.drawing.memory);
  const end_ns = point.drawing.makespan * point.drawing.tick_ns;
  return { point, rows, curves, end_ns, height: Math.max(60, 15 * rows.length) };
}

// Where each pane stands, in pixels from the top of the chart.
function placed(panes, width_px) {
  const lines = width_px < NARROW_PX ? 2 : 1;
  let y = 0;
  for (const pane of panes) {
    pane.title_y = y;
    pane.gantt_y = y + lines * TITLE_PX;
    pane.memory_y = pane.gantt_y + pane.height + GAP_PX;
    y = pane.memory_y + MEMORY_PX + GAP_PX + 8;
  }
  return y + BELOW_PX;
}

function titleOf(pane) {
  const { point } = pane;
  const top = highest(pane.curves);
  const left = point.drawing.ranks_left_out;
  return [
    `${secondsText(pane.end_ns / 1e9)}`,
    point.drawing.steady ? "one period of the steady state" : "",
    top ? `peak ${peakText(top)}` : "",
    point.excess ? "does not fit" : "",
    left > 0 ? `${left} more ranks are in its trace only` : "",
  ]
    .filter((part) => part)
    .join(" · ");
}

// Places are shares of the height: in print the picture has another size.
function showTitles(place, panes) {
  const height = placed(panes, place.clientWidth);
  for (const old of place.querySelectorAll(".pane")) old.remove();
  for (const pane of panes) {
    const { trace } = pane.point;
    const style = { top: `${(100 * pane.title_y) / height}%` };
    const parts = [element("b", {}, fullName(pane.point)), element("span", {}, titleOf(pane))];
    if (trace) parts.push(element("a", { href: trace }, "trace"));
    place.append(element("div", { className: "pane", style }, ...parts));
  }
}

// Each pane has two grids, one for its rows and one for its curves.
function optionOf(panes, { fills, hidden, labelWidth, end_ns, looksOf }, colours) {
  const usable = Math.max(0, ...panes.map(({ point }) => point.drawing.memory.usable_bytes));
  const top = axisTop(panes.map(({ curves }) => curves), usable);
  const option = {
    grid: [],
    xAxis: [],
    yAxis: [],
    series: [],
    // Moved by the slider above, which it is linked with.
    dataZoom: timeZoom(colours).map((zoom, index) => (index > 0 ? zoom : { ...zoom, show: false })),
  };
  let first = 0; // row of the pane among all
  panes.forEach((pane, index) => {
    const above = first;
    first += pane.rows.length;
    const side = { left: labelWidth, right: 16 };
    option.grid.push(
      { ...side, top: pane.gantt_y, height: pane.height },
      { ...side, top: pane.memory_y, height: MEMORY_PX },
    );
    for (const half of [0, 1]) {
      const last = half === 1 && index === panes.length - 1;
      const { axisLabel, ...axis } = timeAxis(end_ns, colours);
      const ends = { axisLabel: { ...axisLabel, show: last }, axisTick: { show: last } };
      option.xAxis.push({ ...axis, gridIndex: 2 * index + half, ...ends });
    }
    option.yAxis.push(
      {
        type: "category",
        gridIndex: 2 * index,
        inverse: true,
        data: pane.rows.map(({ label }) => label),
        ...axisStyle(colours),
        axisTick: { show: false },
        axisLabel: { color: colours.text, fontSize: 11 },
      },
      { ...memoryAxis(top, colours), gridIndex: 2 * index + 1 },
    );
    const axes = (half) => ({ xAxisIndex: 2 * index + half, yAxisIndex: 2 * index + half });
    option.series.push(
      {
        type: "custom",
        clip: true,
        silent: true,
        ...axes(0),
        encode: { y: 0 },
        data: pane.rows.map((_, row) => [row]),
        renderItem: rowRenderer(pane.rows, fills, hidden, colours, looksOf(pane.rows, above)),
      },
      curveSeries(pane.curves, pane.point.drawing.memory.usable_bytes, colours, axes(1)),
    );
  });
  return option;
}

// Returns what draws again after `chosen` has changed.
export function drawPoints(place, kinds, points, chosen) {
  const hidden = new Set();
  const fills = kinds.map(kindColour);
  const decoded = new Map(); // panes are made when they are first shown
  const paneAt = (index) => {
    if (!decoded.has(index)) decoded.set(index, paneOf(points[index]));
    return decoded.get(index);
  };
  let panes = [];
  const state = { found: null, onlyCritical: false }; // `found`: flags by row of all panes
  const rows = []; // of all panes
  const looksOf = (own, above) => (row, task) =>
    lookOf(own[row], task, state.found && (state.found[above + row] ?? []), state.onlyCritical);
  const arrange = () => {
    panes = [...chosen].map(paneAt).sort((a, b) => a.end_ns - b.end_ns);
    rows.splice(0, rows.length, ...panes.flatMap((pane) => pane.rows));
    place.style.height = `${placed(panes, place.clientWidth)}px`;
  };
  arrange();
  const about = () => ({
    words: panes.map(({ point, end_ns }) => `${point.name} ${secondsText(end_ns / 1e9)}`).join(", "),
    table: [
      ["point", "rank", ...TASK_CELLS],
      ...panes.flatMap(({ point, rows }) =>
        rows.flatMap((row) => taskCells(row, kinds, point.name, row.label)),
      ),
    ],
  });
  const endOf = () => Math.max(1, ...panes.map((pane) => pane.end_ns));
  const view = () => ({ labelWidth: labelWidthOf(rows), end_ns: endOf() });
  const option = (colours) => {
    arrange(); // the width decides on the lines of titles
    return optionOf(panes, { fills, hidden, looksOf, ...view() }, colours);
  };
  const { head, top } = drawHead(place, view);
  const chart = draw(place, option, about);
  link(top, chart);
  const showAgain = () => chart.setOption({ series: panes.flatMap(() => [{}, {}]) });
  steer(place, chart, endOf);
  showTitles(place, panes); // the chart has emptied its element
  const grids = () => panes.map(({ rows }, index) => ({ grid: { gridIndex: 2 * index }, rows }));
  addTooltip(chart, place, grids, hidden, (row, task) => taskText(row, task, kinds, row.label));
  const letters = points.flatMap(({ drawing }) => drawing.rows.flatMap(({ kind }) => [...new Set(kind)]));
  const used = new Set(letters.map((letter) => letter.charCodeAt(0) - 97));
  const search = searchBox(rows, {
    lit: (flags) => {
      state.found = flags;
      showAgain();
    },
    show: (row, task) => {
      const end_ns = endOf();
      const width = Math.max(30 * row.duration_ns[task], 0.02 * end_ns);
      showRange(chart, row.start_ns[task] + row.duration_ns[task] / 2, Math.min(width, end_ns), end_ns);
    },
  });
  const onlyCritical = (now) => {
    state.onlyCritical = now;
    showAgain();
  };
  const known = points.some(({ drawing }) => drawing.rows.some(({ critical }) => critical?.length > 0));
  const critical = known ? onlyCritical : null;
  const tools = { rows, kinds, used, fills, hidden, search, own: [], critical, redraw: showAgain };
  const sums = addTools(head, place, chart, tools);
  chart.fit = () => showTitles(place, panes);
  return () => {
    arrange();
    search.again();
    showTitles(place, panes);
    chart.resize();
    chart.redraw();
    top.redraw();
    sums.update();
  };
}
