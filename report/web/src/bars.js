// The bar charts: shares of a whole, and memory against capacity.
import { axisStyle, draw, escapeHtml, percentText, secondsText, tooltipStyle } from "./chart.js";
import { MEMORY } from "./colours.js";

// Horizontal bars, largest on top, each labelled with its share of `whole`. With whole == 1 the
// values are shares themselves.
export function drawShares(element, entries, whole, colourOf) {
  const sorted = [...entries].sort((a, b) => a[1] - b[1]);
  draw(element, (colours) => ({
    grid: { left: 88, right: 64, top: 8, bottom: 28 },
    tooltip: {
      ...tooltipStyle(colours),
      formatter: ({ name, value }) =>
        whole === 1
          ? `${escapeHtml(name)}: ${percentText(value)}`
          : `${escapeHtml(name)}: ${secondsText(value * whole)}, ${percentText(value)}`,
    },
    xAxis: {
      type: "value",
      min: 0,
      ...axisStyle(colours),
      axisLabel: { color: colours.muted, formatter: (value) => `${Math.round(100 * value)} %` },
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
  }));
}

export function drawMemory(element, memory) {
  const capacityGB = memory.capacity_bytes / 1e9;
  const parts = Object.keys(MEMORY).filter((part) => memory.ranks.some((rank) => rank[part] > 0));
  const totals = memory.ranks.map((rank) => parts.reduce((sum, part) => sum + rank[part], 0) / 1e9);
  draw(element, (colours) => ({
    grid: { left: 52, right: 16, top: 62, bottom: 44 },
    legend: {
      top: 0,
      left: 0,
      itemWidth: 14,
      itemHeight: 10,
      textStyle: { color: colours.text },
    },
    tooltip: {
      ...tooltipStyle(colours),
      trigger: "axis",
      axisPointer: { type: "shadow" },
      formatter: (items) =>
        [
          `<b>pipeline rank ${items[0].dataIndex}</b>: ${totals[items[0].dataIndex].toFixed(1)} GB`,
          ...items.map((x) => `${x.marker}${x.seriesName} ${x.value.toFixed(1)} GB`),
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
      type: "value",
      name: "GB",
      max: Math.ceil((Math.max(capacityGB, ...totals) * 1.06) / 10) * 10,
      ...axisStyle(colours),
    },
    series: parts.map((part, index) => ({
      name: part,
      type: "bar",
      stack: "memory",
      barMaxWidth: 44,
      itemStyle: { color: MEMORY[part] },
      data: memory.ranks.map((rank) => rank[part] / 1e9),
      markLine:
        index > 0 || !(capacityGB > 0)
          ? undefined
          : {
              symbol: "none",
              silent: true,
              lineStyle: { color: colours.text, type: "dashed", width: 1.5 },
              label: {
                position: "insideEndTop",
                color: colours.text,
                formatter: `capacity ${capacityGB.toFixed(0)} GB`,
              },
              data: [{ yAxis: capacityGB }],
            },
    })),
  }));
}
