// One quantity over one key of a sweep, a curve with its 95 % band per value of another.
import { axisName, axisStyle, draw, nameAbove, tooltipStyle } from "./chart.js";
import { lossColour, orderedColour } from "./colours.js";
import { bandSeries, lineSeries, scaleOf, shareRange } from "./lines.js";

const LEFT_PX = 76;

// Where the values stand: by number where they are numbers, side by side otherwise.
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
      type: "value",
      min: Math.min(...places) - room,
      max: Math.max(...places) + room,
      ticks: places,
      label,
    },
  };
}

function horizontalAxis(key, places, colours) {
  const { ticks, label, ...axis } = places.axis;
  return {
    ...axis,
    ...axisStyle(colours),
    ...axisName(key, colours),
    splitLine: { show: false },
    ...(ticks && { axisTick: { customValues: ticks, lineStyle: { color: colours.line } } }),
    axisLabel: {
      color: colours.muted,
      hideOverlap: true,
      ...(ticks && { customValues: ticks, formatter: label }),
    },
  };
}

function verticalAxis(metric, values, colours) {
  return {
    type: "value",
    scale: true,
    ...(metric.share && values.length > 0 ? shareRange(values) : {}),
    ...axisStyle(colours),
    ...nameAbove(metric, LEFT_PX, colours),
    axisLabel: {
      color: colours.muted,
      formatter: metric.text,
      ...(metric.share && { showMinLabel: false, showMaxLabel: false }),
    },
  };
}

// `view()` gives {metric, key, curves: [{name, points: [{i, estimate, best, tooltip}]}]}, `i` the
// index of the key's value.
export function drawSweepCurves(element, view) {
  return draw(element, (colours) => {
    const { metric, key, curves } = view();
    const places = placesOf(key);
    const several = curves.length > 1;
    const drawn = curves.map(({ name, points }, index) => ({
      name: name || metric.name,
      colour: several ? orderedColour(index, curves.length) : lossColour("useful"),
      points,
      line: points.map(({ i, estimate }) => [places.at(i), estimate.mean]),
      band: points.map(({ i, estimate }) => [places.at(i), estimate.low, estimate.high]),
    }));
    const best = drawn.flatMap(({ line, points }) => line.filter((_, at) => points[at].best));
    const values = drawn.flatMap(({ band }) => band.flatMap(([, low, high]) => [low, high]));
    return {
      grid: { left: LEFT_PX, right: 24, top: several ? 62 : 34, bottom: 52 },
      legend: {
        show: several,
        top: 0,
        left: 0,
        data: drawn.map(({ name }) => name),
        itemWidth: 16,
        textStyle: { color: colours.text },
      },
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
  });
}
