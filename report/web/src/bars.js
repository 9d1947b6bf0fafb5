// The bar charts: shares of a whole, and memory against capacity.
import { axisStyle, draw, drawToWidth, escapeHtml, limitLine, namesAbove, tooltipStyle, valueAxis } from "./chart.js";
import { MEMORY } from "./colours.js";
import { memoryStep, memoryText, memoryTick, percentText, secondsText, tickText } from "./figures.js";

// Horizontal bars, largest on top, each labelled with its share of `whole`. With whole == 1 the
// values are shares themselves.
export function drawShares(element, entries, whole, colourOf) {
  const sorted = [...entries].sort((a, b) => a[1] - b[1]);
  element.style.height = `${Math.min(element.clientHeight, 44 + 38 * sorted.length)}px`;
  const about = () => ({
    words: [...sorted].reverse().map(([name, value]) => `${name} ${percentText(value / whole)}`).join(", "),
    table: [["name", whole === 1 ? "share" : "seconds"], ...[...sorted].reverse()],
  });
  const option = (colours) => ({
    grid: { left: 88, right: 64, top: 8, bottom: 28 },
    tooltip: {
      ...tooltipStyle(colours),
      formatter: ({ name, value }) =>
        whole === 1
          ? `${escapeHtml(name)}: ${percentText(value)}`
          : `${escapeHtml(name)}: ${secondsText(value * whole)}, ${percentText(value)}`,
    },
    xAxis: {
      ...valueAxis(colours, { hideOverlap: true, formatter: (value) => tickText("share", value) }),
      min: 0,
    },
    yAxis: {
      type: "category",
      data: sorted.map(([name]) => name),
      ...axisStyle(colours),
      axisLabel: { color: colours.text },
    },
    series: [
      {
        type: "bar",
        barMaxWidth: 26,
        data: sorted.map(([name, value]) => ({
          value: value / whole,
          itemStyle: { color: colourOf(name) },
        })),
        label: {
          show: true,
          position: "right",
          color: colours.text,
          formatter: ({ value }) => percentText(value),
        },
      },
    ],
  });
  draw(element, option, about);
}

export function drawMemory(element, memory) {
  const capacity = memory.capacity_bytes;
  const parts = Object.keys(MEMORY).filter((part) => memory.ranks.some((rank) => rank[part] > 0));
  const totals = memory.ranks.map((rank) => parts.reduce((sum, part) => sum + rank[part], 0));
  const most = 1.06 * Math.max(capacity, ...totals);
  const step = memoryStep(most);
  const about = () => ({
    words:
      `At most ${memoryText(Math.max(...totals))} on pipeline rank ` +
      `${totals.indexOf(Math.max(...totals))}; capacity ${memoryText(capacity)}.`,
    table: [
      ["pipeline rank", ...parts.map((part) => `${part} bytes`)],
      ...memory.ranks.map((rank, index) => [index, ...parts.map((part) => rank[part])]),
    ],
  });
  const option = (colours) => {
    const { legend, height_px } = namesAbove(parts, element.clientWidth, colours);
    return {
      grid: { left: 64, right: 16, top: height_px + 16, bottom: 44 },
      legend,
      tooltip: {
        ...tooltipStyle(colours),
        trigger: "axis",
        axisPointer: { type: "shadow" },
        formatter: (items) =>
          [
            `<b>pipeline rank ${items[0].dataIndex}</b>: ${memoryText(totals[items[0].dataIndex])}`,
            ...items.map((x) => `${x.marker}${x.seriesName} ${memoryText(x.value)}`),
          ].join("<br>"),
      },
      xAxis: {
        type: "category",
        data: memory.ranks.map((_, rank) => String(rank)),
        name: "pipeline rank",
        nameLocation: "middle",
        nameGap: 26,
        ...axisStyle(colours),
      },
      yAxis: {
        ...valueAxis(colours, { formatter: memoryTick }),
        max: Math.ceil(most / step) * step,
        interval: step,
      },
      series: parts.map((part, index) => ({
        name: part,
        type: "bar",
        stack: "memory",
        barMaxWidth: 44,
        itemStyle: { color: MEMORY[part] },
        data: memory.ranks.map((rank) => rank[part]),
        markLine:
          index > 0 || !(capacity > 0)
            ? undefined
            : limitLine(capacity, `capacity ${memoryText(capacity)}`, 1.5, colours),
      })),
    };
  };
  drawToWidth(element, option, about);
}
