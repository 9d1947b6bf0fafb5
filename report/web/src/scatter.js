// Points of two quantities by group, with curves through them; on logarithmic axes with the line
// where both are equal and bands of so many percent beside it.
import { axisName, axisStyle, draw, escapeHtml, nameAbove, tooltipStyle } from "./chart.js";
import { unorderedColour } from "./colours.js";
import { tickText, valueText } from "./figures.js";
import { choice } from "./choice.js";
import { legend } from "./legend.js";
import { panel } from "./panel.js";

const LEFT_PX = 76;
const MOST_NAMED = 14; // groups with a button each
const SYMBOLS = ["circle", "diamond", "triangle", "rect"];

// The least and the most, with a little room; of logarithmic axes the room is a factor.
function reach(values, log) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (log) return [least / 1.2, most * 1.2];
  const room = 0.06 * (most - least) || Math.abs(most) * 0.1 || 1;
  return [least >= 0 ? Math.max(0, least - room) : least - room, most + room];
}

function axisOf(axis, [min, max], log, colours) {
  const short = (value) => tickText(axis.unit, Number(value.toPrecision(2)));
  return {
    type: log ? "log" : "value",
    min,
    max,
    ...axisStyle(colours),
    axisLabel: { color: colours.muted, hideOverlap: true, showMinLabel: false, showMaxLabel: false, formatter: short },
  };
}

// Both are equal on the middle one of these lines.
function bandLines([min, max], bands, colours) {
  const lines = [[1, "equal", "solid"]].concat(
    bands.flatMap((share) => [
      [1 + share, `+${Math.round(100 * share)} %`, "dashed"],
      [1 / (1 + share), "", "dashed"],
    ]),
  );
  return lines.map(([factor, name, type]) => ({
    type: "line",
    silent: true,
    symbol: "none",
    z: 1,
    lineStyle: { color: colours.muted, width: type === "solid" ? 1.4 : 0.8, type },
    tooltip: { show: false },
    data: [[min, min * factor], [max, max * factor]],
    name,
    clip: true,
  }));
}

export function drawScatter(place, { title, note, x, y, log, bands, groups, one_at_a_time: one }) {
  const element = panel(place, title, 400, note);
  const hidden = new Set();
  const state = { shown: 0 };
  const visible = () => groups.map((_, index) => index).filter((index) => (one ? index === state.shown : !hidden.has(index)));
  const colourOf = (index) => (one ? unorderedColour(0) : unorderedColour(index));
  const spanOf = (indices) => {
    const xs = indices.flatMap((i) => [...groups[i].x, ...groups[i].line.map(([at]) => at)]);
    const ys = indices.flatMap((i) => [...groups[i].y, ...groups[i].line.map(([, at]) => at)]);
    if (bands.length === 0) return [reach(xs, log), reach(ys, log)];
    const both = reach([...xs, ...ys], log);
    return [both, both];
  };
  const about = () => {
    const shown = visible();
    const points = shown.reduce((sum, index) => sum + groups[index].x.length, 0);
    return {
      words: `${points} points of ${y.name} over ${x.name}: ${shown.slice(0, 6).map((index) => groups[index].name).join(", ")}.`,
      table: [
        ["group", "what", x.name, y.name],
        ...groups.flatMap(({ name, x: xs, y: ys, tip, line }) => [
          ...xs.map((value, i) => [name, tip[i].split("\n")[0], value, ys[i]]),
          ...line.map(([at, value]) => [name, "curve", at, value]),
        ]),
      ],
    };
  };
  const option = (colours) => {
    const shown = visible();
    const [xSpan, ySpan] = spanOf(shown.length > 0 ? shown : groups.map((_, index) => index));
    const tipOf = ({ seriesIndex, dataIndex, seriesName }) => {
      const group = groups[shown.find((index) => groups[index].name === seriesName)];
      if (!group || seriesIndex < 0) return "";
      return [
        `<b>${escapeHtml(group.name)}</b>`,
        ...escapeHtml(group.tip[dataIndex]).split("\n"),
        `${escapeHtml(x.name)}: ${valueText(x.unit, group.x[dataIndex])}`,
        `${escapeHtml(y.name)}: ${valueText(y.unit, group.y[dataIndex])}`,
      ].filter((line) => line).join("<br>");
    };
    return {
      grid: { left: LEFT_PX, right: 20, top: 34, bottom: 52 },
      tooltip: { ...tooltipStyle(colours), formatter: tipOf },
      xAxis: { ...axisOf(x, xSpan, log, colours), ...axisName(x, colours) },
      yAxis: { ...axisOf(y, ySpan, log, colours), ...nameAbove(y, LEFT_PX, colours) },
      series: [
        ...(bands.length > 0 ? bandLines(xSpan, bands, colours) : []),
        ...shown.map((index) => ({
          name: `${groups[index].name} `,
          type: "line",
          silent: true,
          symbol: "none",
          z: 2,
          lineStyle: { color: colourOf(index), width: 1.5 },
          tooltip: { show: false },
          data: groups[index].line,
        })),
        ...shown.map((index) => ({
          name: groups[index].name,
          type: "scatter",
          z: 3,
          symbol: SYMBOLS[Math.floor(index / 10) % SYMBOLS.length],
          symbolSize: groups[index].x.length > 200 ? 6 : 9,
          itemStyle: { color: colourOf(index), opacity: 0.75, borderColor: colours.ground, borderWidth: 0.5 },
          data: groups[index].x.map((value, i) => [value, groups[index].y[i]]),
        })),
      ],
    };
  };
  const chart = draw(element, option, about);
  if (groups.length < 2) return;
  const controls = document.createElement("div");
  element.before(controls);
  if (one) {
    controls.className = "controls";
    choice(controls, "show ", groups.map(({ name }) => name), 0, (index) => {
      state.shown = index;
      chart.redraw();
    });
    return;
  }
  const named = groups.slice(0, MOST_NAMED);
  legend(controls, named.map(({ name }) => name), [...named.keys()], named.map((_, index) => colourOf(index)), hidden, chart.redraw);
}
