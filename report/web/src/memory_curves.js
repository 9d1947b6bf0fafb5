// Memory over time: a step curve per pipeline rank, its peak, and the line of what is usable.
//
// Curves are custom series as the rows of the Gantt charts are, so that thousands of steps cost no
// more than the pixels that show them.
import { draw, limitLine, timeAxis, timeZoom, valueAxis } from "./chart.js";
import { rankColour } from "./colours.js";
import { division, element, legend, panel } from "./dom.js";
import { memoryStep, memoryText, memoryTick, secondsText } from "./figures.js";

const MOST_NAMED = 16; // ranks in the legend

// Ticks and changes, summed up to times in ns and bytes.
function curveOf(rank, curves) {
  const at_ns = [];
  const bytes = [];
  let tick = 0;
  let level = 0;
  rank.gap.forEach((gap, i) => {
    tick += gap;
    level += rank.change[i];
    at_ns.push(tick * curves.tick_ns);
    bytes.push(rank.static_bytes + level * curves.unit_bytes);
  });
  const peak = rank.peak && {
    at_ns: rank.peak.at * curves.tick_ns,
    bytes: rank.static_bytes + rank.peak.bytes,
    task: rank.peak.task,
  };
  return { rank: rank.rank, static_bytes: rank.static_bytes, at_ns, bytes, peak };
}

export const curvesOf = (curves) => curves.ranks.map((rank) => curveOf(rank, curves));

export function highest(curves) {
  const peaks = curves.filter(({ peak }) => peak);
  const higher = (most, curve) => (most && most.peak.bytes >= curve.peak.bytes ? most : curve);
  return peaks.reduce(higher, null);
}

export function peakText(curve) {
  const at = secondsText(curve.peak.at_ns / 1e9);
  return `${memoryText(curve.peak.bytes)} on ${curve.rank}, set by ${curve.peak.task} at ${at}`;
}

// Steps that share a pixel become its lowest and highest point.
function stepPoints(curve, x0, pixelsPerNs, toY, area) {
  const points = [];
  let y = toY(curve.static_bytes);
  let column = -1;
  let low = y;
  let high = y;
  const flush = () => {
    if (column >= 0) points.push([column, low], [column, high], [column, y]);
  };
  for (let i = 0; i < curve.at_ns.length; ++i) {
    const x = x0 + curve.at_ns[i] * pixelsPerNs;
    if (x > area.x + area.width) break;
    const next = toY(curve.bytes[i]);
    const pixel = Math.max(area.x, Math.round(2 * x) / 2);
    if (pixel !== column) {
      flush();
      points.push([pixel, y]);
      column = pixel;
      low = high = y;
    }
    y = next;
    low = Math.min(low, y);
    high = Math.max(high, y);
  }
  flush();
  points.push([area.x + area.width, y]);
  return points;
}

// One data item per curve: [0, 0, index]; the last one is the mark, in front of all curves.
export function curveRenderer(curves, usableBytes, colours, hidden) {
  const top = highest(curves);
  return (params, api) => {
    const index = api.value(2);
    const area = params.coordSys;
    const [x0, y0] = api.coord([0, 0]);
    const pixelsPerNs = (api.coord([1e9, 0])[0] - x0) / 1e9;
    const pixelsPerByte = (api.coord([0, 1e9])[1] - y0) / 1e9;
    const toY = (bytes) => y0 + bytes * pixelsPerByte;
    if (index === curves.length) {
      const children = top ? peakMark(top, x0, pixelsPerNs, toY, area, colours, usableBytes) : [];
      return { type: "group", children };
    }
    if (hidden.has(index)) return { type: "group", children: [] };
    return {
      type: "polyline",
      silent: true,
      shape: { points: stepPoints(curves[index], x0, pixelsPerNs, toY, area) },
      style: {
        stroke: rankColour(index, curves.length),
        lineWidth: curves[index] === top ? 1.8 : 1.1,
        fill: null,
      },
    };
  };
}

// The text stands above the peak, or below it where the line of what is usable would cross it.
function peakMark(curve, x0, pixelsPerNs, toY, area, colours, usableBytes) {
  const x = x0 + curve.peak.at_ns * pixelsPerNs;
  const y = toY(curve.peak.bytes);
  if (x < area.x || x > area.x + area.width) return [];
  const onTheLeft = x > area.x + 0.6 * area.width;
  const crossed = Math.abs(toY(usableBytes) - (y - 9)) < 9 || y - 16 < area.y;
  return [
    { type: "circle", silent: true, shape: { cx: x, cy: y, r: 3.5 }, style: { fill: colours.text } },
    {
      type: "text",
      silent: true,
      style: {
        text: `peak ${memoryText(curve.peak.bytes)}: ${curve.peak.task}, ${curve.rank}`,
        x: onTheLeft ? x - 7 : x + 7,
        y: crossed ? y + 11 : y - 9,
        align: onTheLeft ? "right" : "left",
        verticalAlign: "middle",
        fill: colours.text,
        fontSize: 11,
        backgroundColor: colours.ground,
        padding: [0, 3],
      },
    },
  ];
}

// The series of one grid, and the value axis that holds both the curves and the line.
export function curveSeries(curves, usableBytes, colours, axes, hidden = new Set()) {
  return {
    type: "custom",
    clip: true,
    silent: true,
    ...axes,
    encode: { x: 0, y: 1 },
    data: [...curves.keys(), curves.length].map((index) => [0, 0, index]),
    renderItem: curveRenderer(curves, usableBytes, colours, hidden),
    markLine: !(usableBytes > 0)
      ? undefined
      : limitLine(usableBytes, `usable ${memoryText(usableBytes)}`, 1.2, colours, { fontSize: 11 }),
  };
}

export function memoryAxis(top, colours) {
  return {
    ...valueAxis(colours, { showMaxLabel: false, formatter: memoryTick }),
    min: 0,
    max: top,
    interval: memoryStep(top),
  };
}

export const axisTop = (allCurves, usableBytes) =>
  1.12 * Math.max(usableBytes, ...allCurves.flat().map(({ peak }) => peak?.bytes ?? 0), 1);

// A button per rank that shows and hides its curve; of many ranks the colours of the first and last.
function curveLegend(curves, hidden, redraw) {
  const place = division("legend");
  const colours = curves.map((_, index) => rankColour(index, curves.length));
  if (curves.length <= MOST_NAMED) {
    const indices = [...curves.keys()];
    legend(place, curves.map(({ rank }) => rank), indices, colours, hidden, redraw);
    return place;
  }
  const background = `linear-gradient(to right, ${colours.join(", ")})`;
  place.append(curves[0].rank, element("i", { style: { width: "120px", background } }), curves.at(-1).rank);
  return place;
}

// Draws the curves of a run below its Gantt chart, on the same axis.
export function drawCurves(parent, memory, gantt, labelWidth) {
  const curves = curvesOf(memory);
  const top = highest(curves);
  const note = top ? `Peak: ${peakText(top)}.` : "";
  const place = panel(parent, memory.title ?? "Memory over time by pipeline rank", 240, note);
  const hidden = new Set();
  const about = () => ({
    words: memory.usable_bytes > 0 ? `${note} Usable ${memoryText(memory.usable_bytes)}.` : note,
    table: [
      ["rank", "at_s", "bytes"],
      ...curves.flatMap(({ rank, static_bytes, at_ns, bytes }) => [
        [rank, 0, static_bytes],
        ...at_ns.map((at, i) => [rank, at / 1e9, bytes[i]]),
      ]),
    ],
  });
  const option = (colours) => ({
    grid: { left: labelWidth, right: 16, top: 10, bottom: 26 },
    // Moved by the slider of the chart above, which it is linked with.
    dataZoom: timeZoom(colours).map((zoom) => ({ ...zoom, show: false })),
    xAxis: timeAxis(Math.max(gantt.makespan_s * 1e9, 1), colours),
    yAxis: memoryAxis(axisTop([curves], memory.usable_bytes), colours),
    series: [curveSeries(curves, memory.usable_bytes, colours, {}, hidden)],
  });
  const chart = draw(place, option, about);
  if (curves.length > 1) place.before(curveLegend(curves, hidden, chart.redraw));
  return chart;
}
