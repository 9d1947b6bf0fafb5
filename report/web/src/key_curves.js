// Draws one quantity over a varied key, as a curve with its 95 % band for each value of another
// key.
import { axisName, drawToWidth, nameAbove, namesAbove, tickedAxis, tooltipStyle, valueAxis } from "./chart.js";
import { lossColour, orderedColour, unorderedColour } from "./colours.js";
import { bandSeries, lineSeries, scaleOf, shareRange } from "./lines.js";

const LEFT_PX = 76;

// Numbers stand at their value on the axis, words at even distances.
function placesOf(key) {
  if (!key.numbers) return { at: (i) => i, axis: { type: "category", data: key.labels } };
  const scale = scaleOf(key.numbers);
  const places = key.numbers.map(scale.to);
  const room = 0.02 * (Math.max(...places) - Math.min(...places)) || 0.5;
  const label = (x) => {
    const nearest = places.reduce((a, b, i) => (Math.abs(b - x) < Math.abs(places[a] - x) ? i : a), 0);
    return key.labels[nearest];
  };
  return {
    at: (i) => places[i],
    axis: {
      min: Math.min(...places) - room,
      max: Math.max(...places) + room,
      ticks: places,
      label,
    },
  };
}

function horizontalAxis(key, places, colours) {
  const { ticks, label, ...axis } = places.axis;
  const style = ticks
    ? tickedAxis(ticks, label, colours)
    : { ...valueAxis(colours, { hideOverlap: true }), splitLine: { show: false } };
  return { ...style, ...axis, ...axisName(key, colours) };
}

// Makes a logarithmic axis from one power of two to another, unless the values are so near each
// other that most of it would be empty.
function doublings(values) {
  if (Math.max(...values) < 4 * Math.min(...values)) return { scale: true };
  const power = (round, x) => 2 ** round(Math.log2(x));
  const min = power(Math.floor, Math.min(...values));
  return { type: "log", logBase: 2, min, max: Math.max(2 * min, power(Math.ceil, Math.max(...values))) };
}

function verticalAxis(metric, values, colours) {
  return {
    ...valueAxis(colours, {
      formatter: metric.tick ?? metric.text,
      ...(metric.share && { showMinLabel: false, showMaxLabel: false }),
    }),
    ...(metric.log ? doublings(values) : { scale: true }),
    ...(metric.share && values.length > 0 ? shareRange(values) : {}),
    ...nameAbove(metric, LEFT_PX, colours),
  };
}

function colourOf(index, count, ordered, colours) {
  if (count === 1) return lossColour("useful");
  return ordered ? orderedColour(index, count, colours) : unorderedColour(index);
}

// `view()` gives {metric, key, curves: [{name, points: [{i, estimate, best, tooltip}]}], ordered},
// `i` the index of the key's value; `ordered`: the curves have an order, which their colours follow.
export function drawKeyCurves(element, view) {
  const about = () => {
    const { metric, key, curves } = view();
    const ends = ({ name, points }) =>
      points.length === 0
        ? ""
        : `${name || metric.name} from ${metric.text(points[0].estimate.mean)} to ${metric.text(points.at(-1).estimate.mean)}`;
    return {
      words: `${metric.name} over ${key.key}: ${curves.map(ends).filter((text) => text).slice(0, 8).join("; ")}.`,
      table: [
        ["curve", key.key, metric.name, "low", "high"],
        ...curves.flatMap(({ name, points }) =>
          points.map(({ i, estimate }) => [name, key.values[i], estimate.mean, estimate.low, estimate.high]),
        ),
      ],
    };
  };
  const option = (colours) => {
    const { metric, key, curves, ordered } = view();
    const places = placesOf(key);
    const several = curves.length > 1;
    const drawn = curves.map(({ name, points }, index) => ({
      name: name || metric.name,
      colour: colourOf(index, curves.length, ordered, colours),
      points,
      line: points.map(({ i, estimate }) => [places.at(i), estimate.mean]),
      band: points.map(({ i, estimate }) => [places.at(i), estimate.low, estimate.high]),
    }));
    const best = drawn.flatMap(({ line, points }) => line.filter((_, at) => points[at].best));
    const values = drawn.flatMap(({ band }) => band.flatMap(([, low, high]) => [low, high]));
    const names = several ? drawn.map(({ name }) => name) : [];
    const { legend, height_px } = namesAbove(names, element.clientWidth, colours);
    return {
      grid: { left: LEFT_PX, right: 24, top: height_px + 34, bottom: 52 },
      legend,
      tooltip: {
        ...tooltipStyle(colours),
        formatter: ({ seriesName, dataIndex }) =>
          drawn.find(({ name }) => name === seriesName)?.points[dataIndex].tooltip() ?? "",
      },
      xAxis: horizontalAxis(key, places, colours),
      yAxis: verticalAxis(metric, values, colours),
      series: [
        ...drawn.map(({ name, band, colour }) => bandSeries(name, band, colour)),
        ...drawn.map(({ name, line, colour }) => ({
          ...lineSeries(name, line, colour, several ? { width: 1.5 } : {}),
          showSymbol: true,
        })),
        {
          type: "scatter",
          z: 4,
          silent: true,
          symbolSize: 15,
          itemStyle: { color: "transparent", borderColor: "#e0245e", borderWidth: 2.5 },
          data: best,
        },
      ],
    };
  };
  return drawToWidth(element, option, about);
}
