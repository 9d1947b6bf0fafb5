// The Gantt chart of one iteration: a row per pipeline rank and stream, zoomable in time.
//
// Tens of thousands of tasks: rows hold flat arrays, and only what is visible at the present zoom
// is drawn. Tasks narrower than a pixel merge into one bar per row, colour and pixel.
import * as echarts from "echarts/core";
import { axisStyle, draw, timeLabel, timeZoom } from "./chart.js";
import { categoryColour } from "./colours.js";
import { secondsText } from "./figures.js";

const ROW_PX = 15;
const WIDE_ENOUGH_FOR_NAME_PX = 34;

// Rows with tasks, ranks in order, the compute stream first; an axis label per rank.
function rowsOf(gantt) {
  return gantt.tracks.map((track, index) => ({
    ...track,
    label: index === 0 || gantt.tracks[index - 1].rank !== track.rank ? track.rank : "",
  }));
}

function usedCategories(gantt) {
  const used = new Set();
  for (const track of gantt.tracks) for (const category of track.category) used.add(category);
  return [...used].sort((a, b) => a - b);
}

// One data item per row: [row index]. renderItem draws all visible tasks of the row as a group, in
// colours by category.
export function rowRenderer(rows, fills, hidden, colours) {
  return (params, api) => {
    const row = rows[api.value(0)];
    const area = params.coordSys;
    const height = Math.max(3, api.size([0, 1])[1] * 0.78);
    const toX = (ns) => api.coord([ns, api.value(0)])[0];
    const y = api.coord([0, api.value(0)])[1] - height / 2;
    const x0 = toX(0);
    const pixelsPerNs = (toX(1e9) - x0) / 1e9;
    const children = [];
    let filled = -Infinity; // right end of the last bar, and its category: merge what adds nothing
    let filledCategory = -1;
    for (let i = 0; i < row.start_ns.length; ++i) {
      const category = row.category[i];
      if (hidden.has(category)) continue;
      const left = x0 + row.start_ns[i] * pixelsPerNs;
      const right = left + Math.max(row.duration_ns[i] * pixelsPerNs, 0.6);
      if (right < area.x || left > area.x + area.width) continue;
      if (right - filled < 0.5 && category === filledCategory) continue;
      filled = right;
      filledCategory = category;
      const shape = echarts.graphic.clipRectByRect(
        { x: left, y, width: right - left, height },
        { x: area.x, y: area.y, width: area.width, height: area.height },
      );
      if (!shape) continue;
      // A hair of ground between neighbours, once there is room for it.
      if (shape.width > 3) shape.width -= 0.7;
      const bar = {
        type: "rect",
        shape,
        style: { fill: fills[category] },
        silent: true,
      };
      if (shape.width > WIDE_ENOUGH_FOR_NAME_PX && height >= 10) {
        bar.textContent = {
          style: {
            text: row.name[i],
            fill: "#10151c",
            fontSize: 10,
            width: shape.width - 4,
            overflow: "truncate",
          },
        };
        bar.textConfig = { position: "inside" };
      }
      children.push(bar);
    }
    if (row.label !== "") {
      children.push({
        type: "line",
        silent: true,
        shape: { x1: area.x, x2: area.x + area.width, y1: y - 1.5, y2: y - 1.5 },
        style: { stroke: colours.line },
      });
    }
    return { type: "group", children };
  };
}

function taskText(track, gantt, task) {
  const category = gantt.categories[track.category[task]];
  const start = secondsText(track.start_ns[task] / 1e9);
  const duration = secondsText(track.duration_ns[task] / 1e9);
  return `${track.name[task]} (${category})\n${track.rank}, stream ${track.stream}\nfrom ${start} for ${duration}`;
}

// Index of the task of the row that runs at `ns`, or within `slack` of it; -1: none.
function taskAt(row, ns, slack) {
  let low = 0;
  let high = row.start_ns.length; // first task that starts after ns + slack
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row.start_ns[middle] <= ns + slack) low = middle + 1;
    else high = middle;
  }
  const task = low - 1;
  return task >= 0 && ns <= row.start_ns[task] + row.duration_ns[task] + slack ? task : -1;
}

// Tasks are looked up by the pointer's place: cheaper than a hit test over all bars, and right
// where bars have merged. `panes()` are the grids of the chart with their rows, in order;
// `textOf(row, task)` is what the tip says.
export function addTooltip(chart, element, panes, hidden, textOf) {
  const tip = document.createElement("div");
  tip.className = "tip";
  element.append(tip);
  const hide = () => { tip.style.display = "none"; };
  chart.getZr().on("mousemove", ({ offsetX, offsetY }) => {
    hide();
    const pane = panes().find(({ grid }) => chart.containPixel(grid, [offsetX, offsetY]));
    if (!pane) return;
    const [ns, index] = chart.convertFromPixel(pane.grid, [offsetX, offsetY]);
    const slack = Math.abs(chart.convertFromPixel(pane.grid, [offsetX + 1.5, offsetY])[0] - ns);
    const row = pane.rows[index];
    const task = row ? taskAt(row, ns, slack) : -1;
    if (task < 0 || hidden.has(row.category[task])) return;
    tip.textContent = textOf(row, task);
    tip.style.display = "block";
    const left = Math.min(offsetX + 14, element.clientWidth - tip.offsetWidth - 4);
    const above = offsetY + 16 + tip.offsetHeight > element.clientHeight;
    tip.style.left = `${Math.max(0, left)}px`;
    tip.style.top = `${above ? offsetY - tip.offsetHeight - 8 : offsetY + 16}px`;
  });
  chart.getZr().on("globalout", hide);
}

// A button per category that shows and hides it.
export function legend(element, categories, used, fills, hidden, redraw) {
  element.className = "legend";
  for (const category of used) {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    const swatch = document.createElement("i");
    swatch.style.background = fills[category];
    button.append(swatch, categories[category]);
    button.addEventListener("click", () => {
      if (!hidden.delete(category)) hidden.add(category);
      button.setAttribute("aria-pressed", String(!hidden.has(category)));
      redraw();
    });
    element.append(button);
  }
}

function noteText(gantt) {
  const left = gantt.ranks_left_out;
  const rest = left > 0 ? ` ${left} more ranks are in trace.json only.` : "";
  return (
    "Drag to move, pinch or hold Ctrl and scroll to zoom, or use the slider. " +
    `Rows of a rank: its streams.${rest}`
  );
}

// Room for the labels of ranks, and of bytes in a chart below.
export function labelWidthOf(rows) {
  const longest = Math.max(0, ...rows.map((row) => row.label.length));
  return Math.min(110, Math.max(64, 16 + 7 * longest));
}

// Returns the chart, and the room on its left.
export function drawGantt(panel, parent, gantt) {
  const rows = rowsOf(gantt);
  const height = Math.max(160, rows.length * ROW_PX) + 84;
  const element = panel(parent, "One iteration", height, noteText(gantt));
  const hidden = new Set();
  const fills = gantt.categories.map(categoryColour);
  const end = Math.max(gantt.makespan_s * 1e9, 1);
  const labelled = new Map(rows.map((row, index) => [String(index), row.label]));
  const labelWidth = labelWidthOf(rows);
  const chart = draw(element, (colours) => ({
    grid: { left: labelWidth, right: 16, top: 6, bottom: 78 },
    dataZoom: timeZoom(colours),
    xAxis: {
      type: "value",
      min: 0,
      max: end,
      ...axisStyle(colours),
      axisLabel: timeLabel(colours),
    },
    yAxis: {
      type: "category",
      inverse: true,
      data: rows.map((_, index) => String(index)),
      ...axisStyle(colours),
      axisTick: { show: false },
      axisLabel: { color: colours.text, interval: 0, formatter: (index) => labelled.get(index) },
    },
    series: [
      {
        type: "custom",
        clip: true,
        silent: true,
        encode: { y: 0 },
        data: rows.map((_, index) => [index]),
        renderItem: rowRenderer(rows, fills, hidden, colours),
      },
    ],
  }));
  addTooltip(chart, element, () => [{ grid: "grid", rows }], hidden, (row, task) =>
    taskText(row, gantt, task),
  );
  const buttons = document.createElement("div");
  legend(buttons, gantt.categories, usedCategories(gantt), fills, hidden, () =>
    chart.setOption({ series: [{}] }),
  );
  element.before(buttons);
  return { chart, labelWidth };
}
