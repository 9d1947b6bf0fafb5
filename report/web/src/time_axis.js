// Time along charts: the slider and the axis that stay in view, the keys that move what is shown, and
// ranges of it whose times are summed.
import { draw, timeAxis, timeZoom } from "./chart.js";
import { division, legend, toggle } from "./dom.js";
import { rangeTable } from "./gantt_tools.js";

const HEAD_PX = 56; // the slider, and the axis below it

// The times at the two ends of what is shown.
export function shownRange(chart) {
  const { startValue, endValue } = chart.getOption().dataZoom[0];
  return [startValue, endValue];
}

// The keys of a map: + and - about the middle, arrows along the time.
export function steer(element, chart, endOf) {
  element.tabIndex = 0;
  element.addEventListener("keydown", ({ key }) => {
    const [from, to] = shownRange(chart);
    const width = to - from;
    const wider = { "+": 0.5, "=": 0.5, "-": 2 }[key];
    const move = { ArrowLeft: -0.25, ArrowRight: 0.25 }[key];
    if (!wider && !move) return;
    const end_ns = endOf();
    const middle = (from + to) / 2 + (move ?? 0) * width;
    showRange(chart, middle, Math.min(end_ns, width * (wider ?? 1)), end_ns);
  });
}

export function showRange(chart, middle_ns, width_ns, end_ns) {
  const startValue = Math.min(Math.max(0, middle_ns - width_ns / 2), end_ns - width_ns);
  chart.dispatchAction({ type: "dataZoom", startValue, endValue: startValue + width_ns });
}

// What stays in view above a long chart: the slider and the time axis. `view()` gives the room on its
// left and the last time; the chart's own axis must be linked with it.
export function drawHead(place, view) {
  const axis = division("");
  const head = division("head", axis);
  place.before(head);
  axis.style.height = `${HEAD_PX}px`;
  const top = draw(axis, (colours) => ({
    grid: { left: view().labelWidth, right: 16, top: HEAD_PX - 1, height: 1 },
    dataZoom: timeZoom(colours).map((zoom, index) => (index > 0 ? zoom : { ...zoom, top: 4, bottom: undefined })),
    xAxis: { ...timeAxis(view().end_ns, colours), position: "top", splitLine: { show: false } },
    yAxis: { type: "value", show: false },
    series: [],
  }));
  return { head, top };
}

// A drag over the chart chooses a range, while `active()`.
function chooseByDrag(element, chart, active, chosen) {
  const band = division("band");
  element.append(band);
  let from_px = null;
  const timeAt = (x) => Math.max(0, chart.convertFromPixel({ xAxisIndex: 0 }, x));
  const xOf = (event) => event.clientX - element.getBoundingClientRect().left;
  element.addEventListener("pointerdown", (event) => {
    if (!active()) return;
    from_px = xOf(event);
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    if (from_px === null) return;
    const x = xOf(event);
    Object.assign(band.style, {
      display: "block",
      left: `${Math.min(x, from_px)}px`,
      width: `${Math.abs(x - from_px)}px`,
    });
  });
  element.addEventListener("pointerup", (event) => {
    if (from_px === null) return;
    const ends = [from_px, xOf(event)].sort((a, b) => a - b).map(timeAt);
    from_px = null;
    if (ends[1] > ends[0]) chosen(...ends);
  });
  return {
    // Where the range stands at the present zoom; without one, nowhere.
    place(range) {
      if (!range) {
        band.style.display = "none";
        return;
      }
      const [left, right] = range.map((ns) => chart.convertToPixel({ xAxisIndex: 0 }, ns));
      Object.assign(band.style, { display: "block", left: `${left}px`, width: `${right - left}px` });
    },
  };
}

// A button that lets a drag over the chart, or two times in fields, choose a range, and the table of
// the time of each kind and stream in it. `rows` may change, which update() tells.
export function drawSums(element, chart, rows, categories) {
  const state = { measuring: false, range: null };
  const sums = rangeTable(rows, categories, (from, to) => measure([from, to]));
  const band = chooseByDrag(element, chart, () => state.measuring, (from, to) => measure([from, to]));
  const measure = (range) => {
    state.range = range;
    band.place(range);
    sums.update(...(range ?? shownRange(chart)));
  };
  const update = () => {
    if (state.measuring) measure(state.range);
  };
  chart.on("datazoom", update);
  const help = "drag over the chart, or give two times, for the time of each kind and stream";
  const button = toggle("sum a range", { title: help }, false, (now) => {
    state.measuring = now;
    sums.box.hidden = !now;
    chart.setOption({ dataZoom: [{}, { disabled: now }] });
    element.classList.toggle("measuring", now);
    measure(null);
  });
  return { button, box: sums.box, update };
}

// Above the time axis: the search, buttons of the chart's own, those that let other tasks than the
// critical ones stand back and that sum a range, and the names of kinds. `critical(now)` is called
// with whether they stand back; `used` are the kinds that there are. Returns the sums.
export function addTools(head, place, chart, { rows, kinds, used, fills, hidden, search, own, critical, redraw }) {
  const sums = drawSums(place, chart, rows, kinds);
  const title = "dims all other tasks";
  const back = critical ? [toggle("critical path", { title }, false, critical)] : [];
  const names = division("");
  legend(names, kinds, [...used].sort((a, b) => a - b), fills, hidden, redraw);
  head.prepend(division("tools", search, ...own, ...back, sums.button), names);
  head.after(sums.box);
  return sums;
}
