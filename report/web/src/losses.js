// Where the wall time of several campaigns goes: a stacked bar of what is lost for each.
import { axisName, axisStyle, drawToWidth, nameAbove, namesAbove, tooltipStyle, valueAxis } from "./chart.js";
import { lossColour } from "./colours.js";
import { percentText, shownShare, tickText } from "./figures.js";

const LEFT_PX = 76;
const SLANT = 0.6; // radians
const MOST_SHOWN = 40; // letters of a slanted label
const LETTER_PX = 6.6; // of 12 px type, on the safe side
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
    const bar_px = (element.clientWidth - LEFT_PX) / key.labels.length;
    const lines = key.labels.map((label) => label.split(" "));
    const words = Math.max(...lines.flat().map((word) => word.length));
    const below = letters > MOST_LETTERS && LETTER_PX * (words + 1) < bar_px; // a word in a line of its own
    const slanted = !below && letters > MOST_LETTERS && key.labels.length <= MOST_SLANTED;
    const long_px = LETTER_PX * Math.min(MOST_SHOWN, Math.max(...key.labels.map(({ length }) => length)));
    const left = slanted ? Math.max(LEFT_PX, long_px * Math.cos(SLANT) - bar_px / 2 + 8) : LEFT_PX;
    const bottom = slanted ? 30 + long_px * Math.sin(SLANT) : 38 + 14 * (below ? Math.max(...lines.map(({ length }) => length)) : 1);
    const labels = below ? lines.map((line) => line.join("\n")) : key.labels;
    const { legend, height_px } = namesAbove(causes, element.clientWidth, colours);
    return {
      grid: { left, right: 24, top: height_px + 36, bottom },
      legend,
      tooltip: {
        ...tooltipStyle(colours),
        trigger: "axis",
        axisPointer: { type: "shadow" },
        valueFormatter: (value) => (value === undefined ? "infeasible" : percentText(value)),
      },
      xAxis: {
        type: "category",
        data: labels,
        ...axisStyle(colours),
        ...axisName(key, colours),
        splitLine: { show: false },
        axisLabel: {
          color: colours.muted,
          ...(slanted && { interval: 0, rotate: (180 * SLANT) / Math.PI, width: long_px, overflow: "truncate" }),
            ...(below && { interval: 0, lineHeight: 14 }),
            ...(!slanted && !below && { hideOverlap: true }),
        },
      },
      yAxis: {
        ...valueAxis(colours, { formatter: (share) => tickText("share", share) }),
        ...nameAbove({ name: "lost, of the wall time" }, left, colours),
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
