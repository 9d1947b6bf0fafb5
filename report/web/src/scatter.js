// Draws points of two quantities by group, with curves through them. On logarithmic axes it adds
// the line on which both are equal, and bands at fixed percentages beside it.
import { axisName, draw, escapeHtml, gridLines, nameAbove, tickedAxis, tooltipStyle } from "./chart.js";
import { unorderedColour } from "./colours.js";
import { choice, division, legend, panel } from "./dom.js";
import { evenTicks, roundTicks, tickText, valueText } from "./figures.js";

const LEFT_PX = 76;
const MOST_NAMED = 14; // groups with a button each; of more one chooses from a list
const SYMBOLS = ["circle", "diamond", "triangle", "rect"];

// Returns the least and the greatest value with 5 % of their distance as a margin.
function reach(values) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const room = 0.05 * (most - least) || Math.abs(most) * 0.1 || 1;
  return [least - room, most + room];
}

// A logarithmic axis has logarithms as positions; its ticks are round numbers in the unit's words.
const ticksOf = ({ unit }, [min, max], log) =>
  log ? roundTicks(unit, 10 ** min, 10 ** max).map(Math.log10) : evenTicks(unit, min, max);

function axisOf(axis, span, log, colours) {
  const text = (at) => tickText(axis.unit, Number((log ? 10 ** at : at).toPrecision(12)));
  return {
    ...tickedAxis(ticksOf(axis, span, log), text, colours),
    min: span[0],
    max: span[1],
    axisLine: { onZero: false, lineStyle: { color: colours.line } },
  };
}

function gridSeries(x, xSpan, y, ySpan, log, colours) {
  const lines = gridLines(ticksOf(x, xSpan, log), colours);
  lines.data.push(...ticksOf(y, ySpan, log).map((at) => ({ yAxis: at })));
  return { type: "line", silent: true, z: 0, data: [], markLine: lines };
}

// Where both are equal, and so far beside it; on logarithmic axes these are parallel.
function bandLines([min, max], bands, colours) {
  const factors = [1, ...bands.flatMap((share) => [1 + share, 1 / (1 + share)])];
  return factors.map((factor) => ({
    type: "line",
    silent: true,
    symbol: "none",
    z: 1,
    clip: true,
    lineStyle: { color: colours.muted, width: factor === 1 ? 1.4 : 0.8, type: factor === 1 ? "solid" : "dashed" },
    tooltip: { show: false },
    data: [[min, min + Math.log10(factor)], [max, max + Math.log10(factor)]],
  }));
}

// A point's name stands beside it, on the side where there is room.
function namedPoint(value, name, [least, most], colours) {
  if (!name) return value;
  const position = value[0] > (least + most) / 2 ? "left" : "right";
  return { value, label: { show: true, formatter: name, position, color: colours.text, fontSize: 12, fontWeight: 700 } };
}

export function drawScatter(parent, { title, note, x, y, log, bands, groups, one_at_a_time: one }) {
  const element = panel(parent, title, 400, note);
  const hidden = new Set();
  const chosen = one || groups.length > MOST_NAMED; // by a list, where buttons would be too many
  const state = { shown: one ? 0 : -1 }; // -1: all
  const visible = () =>
    [...groups.keys()].filter((index) => (state.shown < 0 ? !hidden.has(index) : index === state.shown));
  const colourOf = (index) => (one ? unorderedColour(0) : unorderedColour(index));
  const place = log ? Math.log10 : (value) => value;
  const spanOf = (indices) => {
    const xs = indices.flatMap((i) => [...groups[i].x, ...groups[i].line.map(([at]) => at)].map(place));
    const ys = indices.flatMap((i) => [...groups[i].y, ...groups[i].line.map(([, at]) => at)].map(place));
    if (bands.length === 0) return [reach(xs), reach(ys)];
    const both = reach([...xs, ...ys]);
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
        gridSeries(x, xSpan, y, ySpan, log, colours),
        ...(bands.length > 0 ? bandLines(xSpan, bands, colours) : []),
        ...shown.map((index) => ({
          name: `${groups[index].name} `,
          type: "line",
          silent: true,
          symbol: "none",
          z: 2,
          lineStyle: { color: colourOf(index), width: 1.5 },
          tooltip: { show: false },
          data: groups[index].line.map((point) => point.map(place)),
        })),
        ...shown.map((index) => ({
          name: groups[index].name,
          type: "scatter",
          z: 3,
          symbol: SYMBOLS[Math.floor(index / 10) % SYMBOLS.length],
          symbolSize: groups[index].x.length > 200 ? 6 : 9,
          itemStyle: { color: colourOf(index), opacity: 0.75, borderColor: colours.ground, borderWidth: 0.5 },
          data: groups[index].x.map((value, i) =>
            namedPoint([place(value), place(groups[index].y[i])], groups[index].label[i], xSpan, colours)),
        })),
      ],
    };
  };
  const chart = draw(element, option, about);
  if (groups.length < 2) return;
  const controls = division(chosen ? "controls" : "");
  element.before(controls);
  const names = groups.map(({ name }) => name);
  if (chosen) {
    choice(controls, "show ", one ? names : ["all", ...names], 0, (index) => {
      state.shown = one ? index : index - 1;
      chart.redraw();
    });
  } else {
    legend(controls, names, [...names.keys()], names.map((_, index) => colourOf(index)), hidden, chart.redraw);
  }
}
