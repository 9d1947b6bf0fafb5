// Draws one iteration as a Gantt chart: a row per pipeline rank and stream, zoomable in time.
//
// An iteration may have tens of thousands of tasks, so rows hold flat arrays, and only what is
// visible at the present zoom is drawn. Tasks narrower than a pixel merge into one bar per row,
// colour and pixel.
import * as echarts from "echarts/core";
import { axisStyle, draw, timeAxis, timeZoom } from "./chart.js";
import { categoryColour } from "./colours.js";
import { division, panel, toggle } from "./dom.js";
import { secondsText } from "./figures.js";
import { searchBox } from "./gantt_tools.js";
import { addTools, drawHead, showRange, shownRange, steer } from "./time_axis.js";

const ROW_PX = 15;
export const MOVING =
  "Drag to move, pinch or hold Ctrl and scroll to zoom, or use the slider or the keys + - and arrows.";
const DIM = 0.16;
const WIDE_ENOUGH_FOR_NAME_PX = 34;
const MOST_UNFOLDED = 24; // rows; of more than these the first stream of each rank, until asked for

// Rows with tasks, ranks in order, the compute stream first; the first row of a rank is labelled with
// it, every row with its stream. Records of older programs do not say what is critical.
function rowsOf(gantt) {
  return gantt.tracks.map((track, index) => ({
    ...track,
    index,
    label: index === 0 || gantt.tracks[index - 1].rank !== track.rank ? track.rank : "",
    critical: Uint8Array.from(track.name, () => 0),
    ...(track.critical && { critical: flagsOf(track.critical, track.name.length) }),
  }));
}

export function flagsOf(indices, length) {
  const flags = new Uint8Array(length);
  for (const index of indices) flags[index] = 1;
  return flags;
}

function usedCategories(gantt) {
  const used = new Set();
  for (const track of gantt.tracks) for (const category of track.category) used.add(category);
  return used;
}

// A task is drawn in one of these ways; if tasks merge into one bar, the highest number wins.
const LOOK = { plain: 0, dimmed: 1, underlined: 2 };

// One data item per row: [row index]. renderItem draws all visible tasks of the row as a group, in
// colours by category. `look(row index, task)` is one of LOOK.
export function rowRenderer(rows, fills, hidden, colours, look = () => LOOK.plain) {
  return (params, api) => {
    const row = rows[api.value(0)];
    const area = params.coordSys;
    const height = Math.max(3, api.size([0, 1])[1] * 0.78);
    const toX = (ns) => api.coord([ns, api.value(0)])[0];
    const y = api.coord([0, api.value(0)])[1] - height / 2;
    const x0 = toX(0);
    const pixelsPerNs = (toX(1e9) - x0) / 1e9;
    const children = [];
    const lines = []; // below critical tasks, in front of what stands beside them
    let filled = -Infinity; // right end of the last bar, and its category: merge what adds nothing
    let filledCategory = -1;
    let filledLook = LOOK.plain;
    for (let i = 0; i < row.start_ns.length; ++i) {
      const category = row.category[i];
      if (hidden.has(category)) continue;
      const left = x0 + row.start_ns[i] * pixelsPerNs;
      const right = left + Math.max(row.duration_ns[i] * pixelsPerNs, 0.6);
      if (right < area.x || left > area.x + area.width) continue;
      const looks = look(api.value(0), i);
      if (right - filled < 0.5 && category === filledCategory && looks <= filledLook) continue;
      filled = right;
      filledCategory = category;
      filledLook = looks;
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
        style: { fill: fills[category], opacity: looks === LOOK.dimmed ? DIM : 1 },
        silent: true,
      };
      if (looks === LOOK.underlined) {
        const line = { x: shape.x, y: y + height - 2.5, width: Math.max(shape.width, 1), height: 2.5 };
        lines.push({ type: "rect", shape: line, style: { fill: colours.text }, silent: true });
      }
      if (looks !== LOOK.dimmed && shape.width > WIDE_ENOUGH_FOR_NAME_PX && height >= 10) {
        bar.textContent = {
          style: {
            text: row.name[i],
            fill: "#10151c",
            fontSize: 10,
            width: shape.width - 4,
            overflow: "truncate",
            ellipsis: "…",
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
    return { type: "group", children: [...children, ...lines] };
  };
}

// What the tip of a task says; `of` names its row.
export function taskText(row, task, kinds, of) {
  const start = secondsText(row.start_ns[task] / 1e9);
  const duration = secondsText(row.duration_ns[task] / 1e9);
  const critical = row.critical[task] ? ", on the critical path" : "";
  return `${row.name[task]} (${kinds[row.category[task]]}${critical})\n${of}\nfrom ${start} for ${duration}`;
}

// Cells of a row's tasks behind those that name the row, below TASK_CELLS.
export const TASK_CELLS = ["task", "kind", "start_s", "duration_s", "critical"];
export const taskCells = (row, kinds, ...names) =>
  row.name.map((name, i) => [
    ...names,
    name,
    kinds[row.category[i]],
    row.start_ns[i] / 1e9,
    row.duration_ns[i] / 1e9,
    row.critical[i],
  ]);

// Returns one of LOOK. `found` marks the row's tasks that a search matches; it is unset without a
// search.
export function lookOf(row, task, found, onlyCritical) {
  const critical = row.critical[task] === 1;
  if (found ? !found[task] : onlyCritical && !critical) return LOOK.dimmed;
  return critical ? LOOK.underlined : LOOK.plain;
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
  const tip = division("tip");
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

function noteText(gantt) {
  const left = gantt.ranks_left_out;
  const rest = left > 0 ? ` ${left} more ranks are in ${gantt.rest ?? "trace.json"} only.` : "";
  const critical = gantt.tracks.some((track) => track.critical?.length > 0)
    ? "Underlined: the critical path, the tasks that set the step time."
    : "";
  return `${gantt.tracks.some(({ stream }) => stream) ? "Rows of a rank: its streams. " : ""}${critical}${rest}`;
}

// The room that labels of ranks take, and those of bytes in a chart below.
export function labelWidthOf(rows) {
  const letters = ({ label, stream }) => label.length + (stream ? stream.length + 2 : 0);
  const longest = Math.max(0, ...rows.map(letters));
  return Math.min(200, 0.3 * window.innerWidth, Math.max(64, 16 + 7 * longest));
}

function ganttAbout(gantt, rows) {
  const tasks = rows.reduce((sum, row) => sum + row.name.length, 0);
  const ranks = new Set(rows.map(({ rank }) => rank)).size;
  return () => ({
    words: `${tasks} tasks of ${ranks} ranks in ${secondsText(gantt.makespan_s)}.`,
    table: [
      ["rank", "stream", ...TASK_CELLS],
      ...rows.flatMap((row) => taskCells(row, gantt.categories, row.rank, row.stream)),
    ],
  });
}

function ganttOption(rows, labelWidth, end_ns, renderer) {
  const labelOf = ({ label, stream }) => (label ? `{rank|${label}}  ${stream}` : stream);
  return (colours) => ({
    grid: { left: labelWidth, right: 16, top: 4, bottom: 24 },
    // Moved by the slider above, which it is linked with.
    dataZoom: timeZoom(colours).map((zoom, index) => (index > 0 ? zoom : { ...zoom, show: false })),
    xAxis: timeAxis(end_ns, colours),
    yAxis: {
      type: "category",
      inverse: true,
      data: rows.map((_, index) => String(index)),
      ...axisStyle(colours),
      axisTick: { show: false },
      axisLabel: {
        color: colours.muted,
        fontSize: 11,
        interval: 0,
        width: labelWidth - 10,
        overflow: "truncate",
        rich: { rank: { color: colours.text, fontWeight: 600, fontSize: 11 } },
        formatter: (index) => labelOf(rows[index]),
      },
    },
    series: [
      {
        type: "custom",
        clip: true,
        silent: true,
        encode: { y: 0 },
        data: rows.map((_, index) => [index]),
        renderItem: renderer(colours),
      },
    ],
  });
}

const heightOf = (rows) => Math.max(60, rows.length * ROW_PX) + 28;

// Returns the chart, the chart with its slider (which must be linked with it), and the room on its
// left. If `foldable`, a chart of many rows shows only the first row of each rank at first.
export function drawGantt(parent, gantt, foldable = false) {
  const rows = rowsOf(gantt);
  const kinds = gantt.categories;
  const firsts = rows.filter(({ label }) => label !== "");
  const folds = foldable && firsts.length < rows.length;
  const drawn = folds && rows.length > MOST_UNFOLDED ? [...firsts] : [...rows]; // changed in place
  const place = panel(parent, gantt.title ?? "One iteration", heightOf(drawn), noteText(gantt), MOVING);
  const hidden = new Set();
  const fills = kinds.map(categoryColour);
  const end_ns = Math.max(gantt.makespan_s * 1e9, 1);
  const labelWidth = labelWidthOf(rows);
  const state = { found: null, onlyCritical: false };
  const look = (row, task) => lookOf(drawn[row], task, state.found?.[drawn[row].index], state.onlyCritical);
  const renderer = (colours) => rowRenderer(drawn, fills, hidden, colours, look);
  const { head, top } = drawHead(place, () => ({ labelWidth, end_ns }));
  const chart = draw(place, ganttOption(drawn, labelWidth, end_ns, renderer), ganttAbout(gantt, rows));
  steer(place, chart, () => end_ns);
  addTooltip(chart, place, () => [{ grid: "grid", rows: drawn }], hidden, (row, task) =>
    taskText(row, task, kinds, `${row.rank}${row.stream && `, stream ${row.stream}`}`),
  );
  const redraw = () => chart.setOption({ series: [{}] });
  const fold = (folded) => {
    const [startValue, endValue] = shownRange(chart);
    drawn.splice(0, drawn.length, ...(folded ? firsts : rows));
    place.style.height = `${heightOf(drawn)}px`;
    chart.redraw(); // first: resizing draws the rows that the chart knows
    chart.resize();
    chart.dispatchAction({ type: "dataZoom", startValue, endValue });
  };
  const title = "shows a row for each stream of a rank, not only for the first";
  const streams = toggle("all streams", { title }, drawn.length === rows.length, (all) => fold(!all));
  const search = searchBox(rows, {
    lit: (flags) => {
      state.found = flags;
      const unseen = rows.some((row) => !drawn.includes(row) && flags?.[row.index].includes(1));
      if (unseen) streams.click();
      else redraw();
    },
    show: (row, task) => {
      const [from, to] = shownRange(chart);
      const width = Math.min(to - from, Math.max(30 * row.duration_ns[task], 0.02 * end_ns));
      showRange(chart, row.start_ns[task] + row.duration_ns[task] / 2, width, end_ns);
    },
  });
  const onlyCritical = (now) => {
    state.onlyCritical = now;
    redraw();
  };
  const critical = rows.some((row) => row.critical.includes(1)) ? onlyCritical : null;
  const own = folds ? [streams] : [];
  addTools(head, place, chart, { rows, kinds, used: usedCategories(gantt), fills, hidden, search, own, critical, redraw });
  return { chart, top, labelWidth };
}
