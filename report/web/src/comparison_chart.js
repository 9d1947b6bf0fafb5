// Gantt charts and memory curves of the chosen points, one below the other in one chart, so that
// all share the time axis, which stays in view above them with its slider.
import { axisStyle, draw, link, timeLabel, timeZoom } from "./chart.js";
import { kindColour } from "./colours.js";
import { secondsText } from "./figures.js";
import { addTooltip, flagsOf, labelWidthOf, rowRenderer } from "./gantt.js";
import { searchBox, toggle } from "./gantt_tools.js";
import { legend } from "./legend.js";
import { axisTop, curveSeries, curvesOf, highest, memoryAxis, peakText } from "./memory_curves.js";
import { drawSums, drawTimeAxis, showRange, steer } from "./time_axis.js";

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
function showTitles(element, panes) {
  const height = placed(panes, element.clientWidth);
  for (const old of element.querySelectorAll(".pane")) old.remove();
  for (const pane of panes) {
    const line = document.createElement("div");
    line.className = "pane";
    line.style.top = `${(100 * pane.title_y) / height}%`;
    const name = document.createElement("b");
    name.textContent = fullName(pane.point);
    const text = document.createElement("span");
    text.textContent = titleOf(pane);
    line.append(name, text);
    if (pane.point.trace) {
      const trace = document.createElement("a");
      trace.href = pane.point.trace;
      trace.textContent = "trace";
      line.append(trace);
    }
    element.append(line);
  }
}

// Two grids per pane: its rows, its curves.
function optionOf(panes, { fills, hidden, labelWidth, end_ns, lookOf }, colours) {
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
      option.xAxis.push({
        type: "value",
        gridIndex: 2 * index + half,
        min: 0,
        max: end_ns,
        ...axisStyle(colours),
        axisLabel: { ...timeLabel(colours), show: last },
        axisTick: { show: last },
      });
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
        renderItem: rowRenderer(pane.rows, fills, hidden, colours, lookOf(pane.rows, above)),
      },
      curveSeries(pane.curves, pane.point.drawing.memory.usable_bytes, colours, axes(1)),
    );
  });
  return option;
}

function barText(kinds) {
  return (row, task) => {
    const start = secondsText(row.start_ns[task] / 1e9);
    const duration = secondsText(row.duration_ns[task] / 1e9);
    const critical = row.critical[task] ? ", on the critical path" : "";
    return `${row.name[task]} (${kinds[row.category[task]]}${critical})\n${row.label}\nfrom ${start} for ${duration}`;
  };
}

// Returns what draws again after `chosen` has changed.
export function drawPoints(element, kinds, points, chosen) {
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
  const lookOf = (own, above) => (row, task) => {
    const critical = own[row].critical[task] === 1;
    const back = state.found ? !state.found[above + row]?.[task] : state.onlyCritical && !critical;
    return back ? 1 : critical ? 2 : 0;
  };
  const place = () => {
    panes = [...chosen].map(paneAt).sort((a, b) => a.end_ns - b.end_ns);
    rows.splice(0, rows.length, ...panes.flatMap((pane) => pane.rows));
    element.style.height = `${placed(panes, element.clientWidth)}px`;
  };
  place();
  const about = () => ({
    words: panes.map(({ point, end_ns }) => `${point.name} ${secondsText(end_ns / 1e9)}`).join(", "),
    table: [
      ["point", "rank", "task", "kind", "start_s", "duration_s", "critical"],
      ...panes.flatMap(({ point, rows }) =>
        rows.flatMap(({ label, name, category, start_ns, duration_ns, critical }) =>
          name.map((task, i) => [
            point.name,
            label,
            task,
            kinds[category[i]],
            start_ns[i] / 1e9,
            duration_ns[i] / 1e9,
            critical[i],
          ]),
        ),
      ),
    ],
  });
  const endOf = () => Math.max(1, ...panes.map((pane) => pane.end_ns));
  const view = () => ({ labelWidth: labelWidthOf(rows), end_ns: endOf() });
  const option = (colours) => {
    place(); // the width decides on the lines of titles
    return optionOf(panes, { fills, hidden, lookOf, ...view() }, colours);
  };
  const head = document.createElement("div");
  const axis = document.createElement("div");
  head.className = "head";
  head.append(axis);
  element.before(head);
  const top = drawTimeAxis(axis, view);
  const chart = draw(element, option, about);
  link(top, chart);
  const showAgain = () => chart.setOption({ series: panes.flatMap(() => [{}, {}]) });
  steer(element, chart, endOf);
  showTitles(element, panes); // the chart has emptied its element
  addTooltip(
    chart,
    element,
    () => panes.map(({ rows }, index) => ({ grid: { gridIndex: 2 * index }, rows })),
    hidden,
    barText(kinds),
  );
  const used = new Set();
  for (const { drawing } of points) {
    for (const { kind } of drawing.rows) {
      for (const letter of new Set(kind)) used.add(letter.charCodeAt(0) - 97);
    }
  }
  const buttons = document.createElement("div");
  legend(buttons, kinds, [...used].sort((a, b) => a - b), fills, hidden, showAgain);
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
  const tools = document.createElement("div");
  tools.className = "tools";
  const sums = drawSums(element, chart, rows, kinds);
  tools.append(search);
  if (points.some(({ drawing }) => drawing.rows.some(({ critical }) => critical?.length > 0))) {
    tools.append(
      toggle("critical path", "let all other tasks stand back", false, (now) => {
        state.onlyCritical = now;
        showAgain();
      }),
    );
  }
  tools.append(sums.button);
  head.prepend(tools, buttons);
  head.after(sums.box);
  const redraw = () => {
    place();
    search.again();
    showTitles(element, panes);
    chart.resize();
    chart.redraw();
  };
  chart.fit = () => showTitles(element, panes);
  return () => {
    redraw();
    top.redraw();
    sums.update();
  };
}
