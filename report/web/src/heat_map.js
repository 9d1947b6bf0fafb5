// A heat map of one quantity over two keys: light is good. The best cell is framed, cells without a
// result are hatched, values stand in the cells where there is room.
import { axisName, axisStyle, draw, nameAbove, tooltipStyle } from "./chart.js";
import { element } from "./dom.js";
import { SCALE, scaleColour, textOn } from "./colours.js";

function hatching(colours) {
  const image = document.createElement("canvas");
  image.width = image.height = 8;
  const context = image.getContext("2d");
  context.fillStyle = colours.panel;
  context.fillRect(0, 0, 8, 8);
  context.strokeStyle = colours.muted;
  context.beginPath();
  for (const x of [-8, 0, 8]) {
    context.moveTo(x, 8);
    context.lineTo(x + 8, 0);
  }
  context.stroke();
  return { image, repeat: "repeat" };
}

function cellText(text, share, width, height) {
  if (width < 7.2 * text.length || height < 15) return [];
  return [
    {
      type: "text",
      silent: true,
      style: {
        text,
        x: width / 2,
        y: height / 2,
        align: "center",
        verticalAlign: "middle",
        fontSize: 11,
        fill: textOn(scaleColour(share)),
      },
    },
  ];
}

function renderer(cells, span, colours) {
  const hatch = hatching(colours);
  return (params, api) => {
    const cell = cells[params.dataIndex];
    const [width, height] = api.size([1, 1]);
    const [x, y] = api.coord([cell.x, cell.y]);
    const shape = { x: 0, y: 0, width: width - 1, height: height - 1 };
    const share = span.shareOf(cell.value);
    const known = cell.value !== null;
    const fill = known ? `rgb(${scaleColour(share).join(" ")})` : hatch;
    const children = [{ type: "rect", shape, style: { fill } }];
    if (known) children.push(...cellText(cell.text, share, shape.width, shape.height));
    if (cell.best) {
      const frame = { x: 1.5, y: 1.5, width: shape.width - 3, height: shape.height - 3 };
      children.push(
        { type: "rect", silent: true, shape: frame, style: { fill: null, stroke: "#fff", lineWidth: 4 } },
        { type: "rect", silent: true, shape: frame, style: { fill: null, stroke: "#e0245e", lineWidth: 2.5 } },
      );
    }
    return { type: "group", x: x - width / 2 + 0.5, y: y - height / 2 + 0.5, children };
  };
}

// The range of the cells' values; shareOf is 1 at the best.
export function spanOf(cells, better) {
  const values = cells.flatMap(({ value }) => (value === null ? [] : [value]));
  const least = Math.min(...values);
  const most = Math.max(...values);
  const shareOf = (value) => {
    if (value === null || !(most > least)) return 1;
    const share = (value - least) / (most - least);
    return better > 0 ? share : 1 - share;
  };
  return { worst: better > 0 ? least : most, best: better > 0 ? most : least, shareOf };
}

const gradient = `linear-gradient(to right, ${SCALE.join(", ")})`;

export function scaleLegend(place, metric, span, anyBest, anyMissing) {
  const part = (tag, text, style) => element(tag, { style }, text);
  place.replaceChildren(
    part("span", `${metric.name}: ${metric.text(span.worst)}`),
    part("i", "", { background: gradient, width: "180px" }),
    part("span", metric.text(span.best)),
    ...(anyBest ? [part("i", "", { border: "2px solid #e0245e", width: "16px" }), part("span", "best, or as good")] : []),
    ...(anyMissing
      ? [part("i", "", { background: "repeating-linear-gradient(135deg, var(--muted) 0 1px, var(--panel) 1px 5px)" }),
         part("span", "infeasible")]
      : []),
  );
}

// `view()` gives {across, down, cells, span}: keys of sweep_data.js, and cells {x, y, value or null,
// text, best, tooltip}.
export function drawHeatMap(element, view) {
  const about = () => {
    const { across, down, cells } = view();
    const best = cells.find((cell) => cell.best);
    const place = ({ x, y }) => `${down.key} ${down.values[y]}, ${across.key} ${across.values[x]}`;
    return {
      words: best ? `Best at ${place(best)}: ${best.text}.` : `${cells.length} points.`,
      table: [[down.key, across.key, "value"], ...cells.map(({ x, y, value }) => [down.values[y], across.values[x], value])],
    };
  };
  const option = (colours) => {
    const { across, down, cells, span } = view();
    const left = Math.min(200, 30 + 7 * Math.max(...down.labels.map((label) => label.length)));
    const axis = { type: "category", ...axisStyle(colours), splitLine: { show: false } };
    return {
      grid: { left, right: 12, top: 28, bottom: 52, outerBoundsMode: "none" },
      tooltip: {
        ...tooltipStyle(colours),
        formatter: ({ dataIndex }) => cells[dataIndex].tooltip(),
      },
      xAxis: { ...axis, data: across.labels, ...axisName(across, colours) },
      yAxis: { ...axis, data: down.labels, ...nameAbove(down, left, colours) },
      series: [
        {
          type: "custom",
          encode: { x: 0, y: 1 },
          data: cells.map(({ x, y }) => [x, y]),
          renderItem: renderer(cells, span, colours),
        },
      ],
    };
  };
  return draw(element, option, about);
}
