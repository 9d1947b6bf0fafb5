// Goodput over the interval of snapshots: simulated with its 95 % band, by formula, and where the
// configured interval, those of the formulas and the best simulated one lie.
import { drawToWidth, namesAbove, tickedAxis, tooltipStyle, valueAxis } from "./chart.js";
import { lossColour } from "./colours.js";
import { estimateText, figureOf, intervalTitle, percentText, secondsText, tickText } from "./figures.js";
import { bandSeries, lineSeries, shareRange, timeTicks, valueAt } from "./lines.js";

const BAND = `simulated, ${intervalTitle}`;
const SIMULATED = lossColour("useful");
const FORMULA = lossColour("redo");

// The marks of Young and exact often coincide: the smaller one lies in front.
const MARKS = [
  ["configured_s", "rect", 12, "#59a14f"],
  ["young_s", "triangle", 20, "#f28e2b"],
  ["exact_s", "diamond", 12, "#b07aa1"],
  ["best_s", "circle", 12, "#4e79a7"],
];

function markSeries(interval, simulated, colours) {
  return MARKS.flatMap(([key, symbol, size, colour]) => {
    const every_s = interval[key];
    if (!(every_s > 0)) return [];
    const y = valueAt(simulated, Math.log10(every_s));
    if (y === null) return [];
    return [
      {
        name: `${figureOf(`campaign.interval.${key}`).title}: ${secondsText(every_s)}`,
        type: "scatter",
        z: 4,
        symbol,
        symbolSize: size,
        itemStyle: { color: colour, borderColor: colours.ground, borderWidth: 1.5 },
        data: [[Math.log10(every_s), y]],
      },
    ];
  });
}

function tooltipText(point) {
  return (
    `<b>every ${secondsText(point.every_s)}</b><br>` +
    `simulated ${estimateText("share", point.goodput)}<br>` +
    `formula ${percentText(point.expected)}`
  );
}

export function drawInterval(element, interval) {
  const points = interval.points.filter(({ goodput }) => goodput);
  const at = (point) => Math.log10(point.every_s);
  const simulated = points.map((point) => [at(point), point.goodput.mean]);
  const expected = points.map((point) => [at(point), point.expected]);
  const band = points.map((point) => [at(point), point.goodput.low, point.goodput.high]);
  const range = shareRange([
    ...expected.map(([, y]) => y),
    ...band.flatMap(([, low, high]) => [low, high]),
  ]);
  const ticks = timeTicks(points[0].every_s, points.at(-1).every_s).map(Math.log10);
  const best = points.reduce((a, b) => (b.goodput.mean > a.goodput.mean ? b : a));
  const about = () => ({
    words: `Best simulated every ${secondsText(best.every_s)}: ${estimateText("share", best.goodput)}.`,
    table: [
      ["every_s", "goodput", "low", "high", "formula"],
      ...points.map(({ every_s, goodput, expected: formula }) => [
        every_s, goodput.mean, goodput.low, goodput.high, formula,
      ]),
    ],
  });
  const option = (colours) => {
    const marks = markSeries(interval, simulated, colours);
    const names = [BAND, "formula", ...marks.map(({ name }) => name)];
    const { legend, height_px } = namesAbove(names, element.clientWidth, colours);
    return {
      grid: { left: 60, right: 24, top: height_px + 34, bottom: 44 },
      legend,
      tooltip: {
        ...tooltipStyle(colours),
        trigger: "axis",
        formatter: (items) => {
          const item = items.find(({ seriesName }) => seriesName === BAND);
          return item ? tooltipText(points[item.dataIndex]) : "";
        },
      },
      xAxis: {
        ...tickedAxis(ticks, (x) => tickText("seconds", Number((10 ** x).toPrecision(3))), colours),
        min: at(points[0]),
        max: at(points.at(-1)),
        name: "one snapshot every",
        nameLocation: "middle",
        nameGap: 28,
      },
      yAxis: {
        ...valueAxis(colours, { showMinLabel: false, showMaxLabel: false, formatter: percentText }),
        name: figureOf("campaign.goodput").title,
        ...range,
      },
      series: [
        bandSeries(BAND, band, SIMULATED),
        lineSeries(BAND, simulated, SIMULATED),
        { ...lineSeries("formula", expected, FORMULA, { type: "dashed" }), showSymbol: false },
        ...marks,
      ],
    };
  };
  drawToWidth(element, option, about);
}
