// Where the wall time of several campaigns goes: a stacked bar of what is lost for each.
import { axisName, axisStyle, drawToWidth, nameAbove, namesAbove, tooltipStyle } from "./chart.js";
import { lossColour } from "./colours.js";
import { percentText, shownShare, tickText } from "./figures.js";

const LEFT_PX = 76;
const MOST_LETTERS = 100; // of all labels side by side; more are slanted, so that each is shown
const MOST_SLANTED = 40; // labels

// `view()` gives {key: {name, labels}, bars: [{i, lost}]}, `i` the index of the label and `lost` the
// shares by cause; there is no bar where nothing ran.
export function drawLosses(element, view) {
  const about = () => {
    const { key, bars } = view();
    const causes = Object.keys(bars[0]?.lost ?? {});
    const most = bars.map(({ i, lost }) => {
      const [cause] = Object.entries(lost).reduce((a, b) => (b[1] > a[1] ? b : a), ["nothing", 0]);
      return `${key.labels[i]} most to ${cause}`;
    });
    return {
      words: most.slice(0, 6).join(", "),
      table: [[key.name || "point", ...causes], ...bars.map(({ i, lost }) => [key.labels[i], ...causes.map((cause) => lost[cause])])],
    };
  };
  const option = (colours) => {
    const { key, bars } = view();
    const causes = Object.keys(bars[0]?.lost ?? {}).filter((cause) =>
      bars.some(({ lost }) => lost[cause] >= shownShare),
    );
    const letters = key.labels.reduce((sum, label) => sum + label.length, 0);
    const slanted = letters > MOST_LETTERS && key.labels.length <= MOST_SLANTED;
    const { legend, height_px } = namesAbove(causes, element.clientWidth, colours);
    return {
      grid: { left: LEFT_PX, right: 24, top: height_px + 36, bottom: slanted ? 96 : 52 },
      legend,
      tooltip: {
        ...tooltipStyle(colours),
        trigger: "axis",
        axisPointer: { type: "shadow" },
        valueFormatter: (value) => (value === undefined ? "infeasible" : percentText(value)),
      },
      xAxis: {
        type: "category",
        data: key.labels,
        ...axisStyle(colours),
        ...axisName(key, colours),
        splitLine: { show: false },
        axisLabel: {
          color: colours.muted,
          ...(slanted ? { interval: 0, rotate: 30 } : { hideOverlap: true }),
        },
      },
      yAxis: {
        type: "value",
        ...axisStyle(colours),
        ...nameAbove({ name: "lost, of the wall time" }, LEFT_PX, colours),
        axisLabel: { color: colours.muted, formatter: (share) => tickText("share", share) },
      },
      series: causes.map((cause) => ({
        name: cause,
        type: "bar",
        stack: "lost",
        barMaxWidth: 44,
        itemStyle: { color: lossColour(cause) },
        data: bars.map(({ i, lost }) => [i, lost[cause]]),
      })),
    };
  };
  return drawToWidth(element, option, about);
}
