// Things below each other, each with a value and its interval on one axis: names stand above their
// intervals, so that long ones fit narrow screens, too.
import { axisName, drawToWidth, escapeHtml, gridLines, tickedAxis, tooltipStyle } from "./chart.js";
import { lossColour, unorderedColour } from "./colours.js";
import { estimateText, evenTicks, roundTicks, tickText, valueText } from "./figures.js";
import { scaleOf } from "./lines.js";
import { panel } from "./dom.js";

const LINE_PX = 16;
const LETTER_PX = 6.6; // of 12 px type, on the safe side
const BAR_PX = 24; // below a name, with the gap to the next one
const MIDDLE_PX = 8;
const HEADING_PX = 24;
const SIDE_PX = 8;
const FOOT_PX = 50;
const HEAD_PX = 6;
const LEGEND_PX = 26;
const TOP_AXIS_PX = 24;
const MOST_WITHOUT_TOP = 12; // items
const BEST = "#1a9850";

// Breaks a text between words into lines of at most `letters`.
export function wrapped(text, letters) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line && line.length + 1 + word.length > letters) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines;
}

// Where each item stands, from the top, for charts of this width.
function placed(items, width_px, unit) {
  const letters = Math.floor((width_px - 2 * SIDE_PX) / LETTER_PX);
  let top = 0;
  const rows = items.map((item, index) => {
    const heading = item.group && item.group !== items[index - 1]?.group ? wrapped(item.group, letters) : [];
    const value = estimateText(unit, item);
    const beside = item.name.length + 2 + value.length <= letters;
    const name = beside ? [item.name] : [...wrapped(item.name, letters), value];
    const row = { ...item, heading, value: beside ? value : "", name, top };
    top += (heading.length > 0 ? HEADING_PX + (heading.length - 1) * LINE_PX : 0) + name.length * LINE_PX + BAR_PX;
    return row;
  });
  return { rows, height: top };
}

function rowRenderer(rows, scale, colours) {
  return (params, api) => {
    const row = rows[params.dataIndex];
    const area = params.coordSys;
    const text = (content, x, y, style) => ({
      type: "text",
      silent: true,
      style: {
        text: content,
        x,
        y,
        fontSize: 12,
        fill: colours.text,
        backgroundColor: colours.ground, // in front of the grid's lines
        verticalAlign: "top",
        ...style,
      },
    });
    let y = area.y + row.top;
    const children = [];
    row.heading.forEach((line, index) => {
      children.push(text(line, area.x, y + 7 + index * LINE_PX, { fill: colours.muted, fontWeight: 600 }));
    });
    if (row.heading.length > 0) y += HEADING_PX + (row.heading.length - 1) * LINE_PX;
    const weight = row.best ? { fontWeight: 700 } : {};
    row.name.forEach((line, index) => children.push(text(line, area.x, y + index * LINE_PX, weight)));
    if (row.value) children.push(text(row.value, area.x + area.width, y, { align: "right", ...weight }));
    const middle = y + row.name.length * LINE_PX + MIDDLE_PX;
    const at = (value) => api.coord([scale.to(value), 0])[0];
    const colour = row.best ? BEST : lossColour("useful");
    const line = (x1, x2, y1, y2, lineWidth) => ({
      type: "line",
      silent: true,
      shape: { x1, x2, y1, y2 },
      style: { stroke: colour, lineWidth },
    });
    if (row.high > row.low) {
      const [low, high] = [at(row.low), at(row.high)];
      children.push(line(low, high, middle, middle, 3), line(low, low, middle - 5, middle + 5, 1.5));
      children.push(line(high, high, middle - 5, middle + 5, 1.5));
    }
    children.push({
      type: "circle",
      shape: { cx: at(row.mean), cy: middle, r: 5 },
      style: { fill: colour, stroke: colours.ground, lineWidth: 1.5 },
    });
    return { type: "group", children };
  };
}

// Where values stand: `floor` is where those below it do, on an axis that is then logarithmic.
function scaleAround(items, axis, floor) {
  const values = items.flatMap(({ low, mean, high, marks }) => [low, mean, high, ...Object.values(marks)]);
  const known = values.filter(Number.isFinite).map((value) => Math.max(value, floor ?? -Infinity));
  const scale = floor ? { log: true, to: (x) => Math.log10(Math.max(x, floor)), from: (at) => 10 ** at } : scaleOf(known);
  const places = known.map(scale.to);
  const [least, most] = [Math.min(...places), Math.max(...places)];
  const room = 0.04 * (most - least) || Math.abs(most) * 0.1 || 1;
  const [min, max] = [least - room, most + room];
  return { ...scale, min, max, ticks: scale.log ? roundTicks(axis.unit, 10 ** min, 10 ** max).map(Math.log10) : evenTicks(axis.unit, min, max) };
}

function barMiddle({ heading, name, top }) {
  const above = heading.length > 0 ? HEADING_PX + (heading.length - 1) * LINE_PX : 0;
  return top + above + name.length * LINE_PX + MIDDLE_PX;
}

export function drawRanges(place, { title, note, axis, floor, items }) {
  const element = panel(place, title, 100, note);
  const marks = [...new Set(items.flatMap((item) => Object.keys(item.marks)))];
  const text = (value) => valueText(axis.unit, value);
  const scale = scaleAround(items, axis, floor);
  const long = items.length > MOST_WITHOUT_TOP; // the axis stands above, too
  const top = (marks.length > 0 ? LEGEND_PX : HEAD_PX) + (long ? TOP_AXIS_PX : 0);
  const arrange = () => {
    const arranged = placed(items, element.clientWidth, axis.unit);
    element.style.height = `${arranged.height + top + FOOT_PX}px`;
    return arranged;
  };
  arrange();
  const best = items.find((item) => item.best) ?? items[0];
  const about = () => ({
    words: `${axis.name} of ${items.length}: ${best.name} ${estimateText(axis.unit, best)}.`,
    table: [
      ["group", "name", axis.name, "low", "high", ...marks],
      ...items.map((item) => [item.group, item.name, item.mean, item.low, item.high, ...marks.map((mark) => item.marks[mark])]),
    ],
  });
  const tipOf = (item) =>
    [
      `<b>${escapeHtml(item.name)}</b>`,
      `${escapeHtml(axis.name)}: ${estimateText(axis.unit, item)}`,
      ...Object.entries(item.marks).map(([mark, value]) => `${escapeHtml(mark)}: ${text(value)}`),
      ...(item.tip ? escapeHtml(item.tip).split("\n") : []),
    ].join("<br>");
  const option = (colours) => {
    const { rows, height } = arrange();
    const tick = (x) => tickText(axis.unit, Number(scale.from(x).toPrecision(12)));
    const horizontal = {
      ...tickedAxis(scale.ticks, tick, colours),
      min: scale.min,
      max: scale.max,
      axisLine: { onZero: false, lineStyle: { color: colours.line } },
    };
    return {
      grid: { left: SIDE_PX, right: SIDE_PX, top, bottom: FOOT_PX - 4 },
      legend: { show: marks.length > 0, top: 0, left: 0, data: marks, itemWidth: 12, selectedMode: false, textStyle: { color: colours.text } },
      tooltip: { ...tooltipStyle(colours), formatter: ({ dataIndex }) => tipOf(items[dataIndex]) },
      xAxis: [
        { ...horizontal, ...axisName(axis, colours) },
        ...(long ? [{ ...horizontal, position: "top" }] : []),
      ],
      yAxis: { type: "value", min: 0, max: height, inverse: true, show: false },
      series: [
        {
          type: "custom",
          z: 3,
          encode: { x: 0, y: 1 },
          data: rows.map((row) => [scale.to(row.mean), barMiddle(row)]),
          renderItem: rowRenderer(rows, scale, colours),
          markLine: gridLines(scale.ticks, colours),
        },
        ...marks.map((mark, index) => ({
          name: mark,
          type: "scatter",
          z: 4,
          symbol: ["diamond", "triangle", "rect"][index % 3],
          symbolSize: 9,
          itemStyle: { color: unorderedColour(index + 1), borderColor: colours.ground, borderWidth: 1 },
          data: rows.map((row) => (row.marks[mark] === undefined ? [NaN, NaN] : [scale.to(row.marks[mark]), barMiddle(row)])),
        })),
      ],
    };
  };
  drawToWidth(element, option, about);
}
