// ECharts with only the parts that the page uses, and what all charts share.
import { BarChart, CustomChart, LineChart, ScatterChart } from "echarts/charts";
import {
  DataZoomInsideComponent,
  DataZoomSliderComponent,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
} from "echarts/components";
import * as echarts from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { theme } from "./colours.js";
import { describe } from "./describe.js";
import { tickText } from "./figures.js";

echarts.use([
  BarChart,
  CanvasRenderer,
  CustomChart,
  DataZoomInsideComponent,
  DataZoomSliderComponent,
  GridComponent,
  LegendComponent,
  LineChart,
  MarkLineComponent,
  ScatterChart,
  TooltipComponent,
]);

// All charts that the page has drawn, for paper and for scripts beside these.
export const drawn = new Set();

const FONT = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

// `option` is a function of the theme, called again when the reader switches between light and dark;
// `about` says what the chart shows (describe.js).
export function draw(element, option, about) {
  const chart = echarts.init(element, null, { renderer: "canvas" });
  const render = () => {
    const colours = theme();
    chart.setOption(
      {
        animation: false,
        textStyle: { fontFamily: FONT, color: colours.text },
        ...option(colours),
      },
      { notMerge: true },
    );
  };
  render();
  const say = about ? describe(element, chart, about) : () => {};
  chart.redraw = () => {
    render();
    say();
  };
  const listening = new AbortController();
  const { signal } = listening;
  window.addEventListener("resize", () => chart.resize(), { signal });
  drawn.add(chart);
  signal.addEventListener("abort", () => drawn.delete(chart));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", render, { signal });
  chart.listening = listening;
  return chart;
}

// The same of a chart whose parts move where its width changes.
export function drawToWidth(element, option, about) {
  const chart = draw(element, option, about);
  let width = element.clientWidth; // an observer's first word is of what it was drawn for
  const observer = new ResizeObserver(() => {
    if (element.clientWidth === width) return;
    width = element.clientWidth;
    chart.redraw();
    chart.resize();
  });
  observer.observe(element);
  chart.listening.signal.addEventListener("abort", () => observer.disconnect());
  return chart;
}

// Ends the charts below `root`, which is to be emptied.
export function forgetCharts(root) {
  for (const element of root.querySelectorAll("[_echarts_instance_]")) {
    const chart = echarts.getInstanceByDom(element);
    chart.listening.abort();
    chart.dispose();
  }
}

// Charts whose time axes move together. Their dataZoom components must be alike.
export function link(...charts) {
  const group = `linked-${(links += 1)}`;
  for (const chart of charts) chart.group = group;
  echarts.connect(group);
}
let links = 0;

// A slider below the chart, and drag and pinch inside of it, over every time axis that it has.
export function timeZoom(colours, bottom = 8) {
  return [
    {
      type: "slider",
      xAxisIndex: "all",
      filterMode: "none",
      bottom,
      show: !colours.onPaper,
      height: 24,
      labelFormatter: (ns) => tickText("seconds", ns / 1e9),
      textStyle: { color: colours.muted },
    },
    {
      type: "inside",
      xAxisIndex: "all",
      filterMode: "none",
      zoomOnMouseWheel: "ctrl",
      moveOnMouseWheel: false,
      preventDefaultMouseMove: false,
    },
  ];
}

export function axisStyle(colours) {
  return {
    axisLabel: { color: colours.muted },
    nameTextStyle: { color: colours.muted },
    axisLine: { lineStyle: { color: colours.line } },
    axisTick: { lineStyle: { color: colours.line } },
    splitLine: { lineStyle: { color: colours.line } },
  };
}

export function valueAxis(colours, label = {}) {
  return { type: "value", ...axisStyle(colours), axisLabel: { color: colours.muted, ...label } };
}

export function timeAxis(end_ns, colours) {
  const formatter = (ns) => tickText("seconds", ns / 1e9);
  const label = { formatter, showMaxLabel: false, hideOverlap: true };
  return { ...valueAxis(colours, label), min: 0, max: end_ns };
}

// An axis of values with ticks at these places, and their texts.
export function tickedAxis(ticks, formatter, colours) {
  return {
    ...valueAxis(colours, { customValues: ticks, hideOverlap: true, formatter }),
    axisTick: { customValues: ticks, lineStyle: { color: colours.line } },
    splitLine: { show: false },
  };
}

// A dashed line at a limit, as the mark line of a series.
export function limitLine(value, text, width, colours, style = {}) {
  return {
    symbol: "none",
    silent: true,
    lineStyle: { color: colours.text, type: "dashed", width },
    label: { position: "insideEndTop", color: colours.text, formatter: text, ...style },
    data: [{ yAxis: value }],
  };
}

// Vertical lines at these places, as the mark lines of a series: an axis with ticks of its own has none.
export function gridLines(ticks, colours) {
  return {
    silent: true,
    z: 0, // behind what is drawn
    symbol: "none",
    animation: false,
    label: { show: false },
    lineStyle: { color: colours.line, width: 1, type: "solid" },
    data: ticks.map((at) => ({ xAxis: at })),
  };
}

// The name of a key below its axis.
export function axisName({ name }, colours) {
  return { name, nameLocation: "middle", nameGap: 30, nameTextStyle: { color: colours.text } };
}

// The name of a vertical axis above it, from the chart's left edge: names are longer than axes are
// high.
export function nameAbove({ name }, left_px, colours) {
  const place = { align: "left", padding: [0, 0, 0, 4 - left_px] };
  return { name, nameLocation: "end", nameGap: 12, nameTextStyle: { color: colours.text, ...place } };
}

// The names of what is drawn, in as many lines as the chart's width takes, and their height. On a
// canvas: not to be pressed, as no key would reach them.
const LEGEND_LINE_PX = 22;
const LETTER_PX = 6.8; // of 12 px type, on the safe side
const SWATCH_PX = 14;
export function namesAbove(names, width_px, colours) {
  let lines = names.length > 0 ? 1 : 0;
  let used = 0;
  for (const name of names) {
    const own = SWATCH_PX + 15 + LETTER_PX * name.length;
    if (used > 0 && used + own > width_px) {
      lines += 1;
      used = 0;
    }
    used += own;
  }
  const legend = {
    show: lines > 0,
    top: 0,
    left: 0,
    data: names,
    itemWidth: SWATCH_PX,
    itemHeight: 10,
    selectedMode: false,
    textStyle: { color: colours.text },
  };
  return { legend, height_px: LEGEND_LINE_PX * lines };
}

export function tooltipStyle(colours) {
  return {
    backgroundColor: colours.panel,
    borderColor: colours.line,
    textStyle: { color: colours.text, fontSize: 13 },
    confine: true,
  };
}

// Names come from a scenario file: tooltips are HTML.
export function escapeHtml(text) {
  const codes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return String(text).replace(/[&<>"]/g, (c) => codes[c]);
}
