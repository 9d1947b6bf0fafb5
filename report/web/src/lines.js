// Curves with bands over a quantity that may span decades: what the charts of intervals and sweeps
// share. Positions on such an axis are logarithms; its ticks stand where its texts say.

// Beyond this ratio of the largest to the smallest value an axis is logarithmic.
const LOG_FROM = 20;

// Where a value stands, and back, for values that all are numbers.
export function scaleOf(values) {
  const least = Math.min(...values);
  const most = Math.max(...values);
  if (!(least > 0) || most / least <= LOG_FROM) return { log: false, to: (x) => x, from: (x) => x };
  return { log: true, to: Math.log10, from: (x) => 10 ** x };
}

const STEPS_S = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800].concat(
  [1, 2, 3, 6, 12, 24, 48, 120, 240].map((hours) => 3600 * hours),
);

// Round times between `from_s` and `to_s`.
export function timeTicks(from_s, to_s) {
  return STEPS_S.filter((step) => step >= from_s && step <= to_s);
}

// Fills the area between low and high of [x, low, high] points, behind the curves.
export function bandSeries(name, points, colour) {
  return {
    name,
    type: "custom",
    silent: true,
    clip: true,
    z: 1,
    tooltip: { show: false },
    itemStyle: { color: colour },
    encode: { x: 0, y: [1, 2] },
    data: points,
    renderItem: (params, api) => {
      if (params.dataIndex > 0) return undefined; // the first item draws the whole band
      const upper = points.map(([x, , high]) => api.coord([x, high]));
      const lower = points.map(([x, low]) => api.coord([x, low]));
      return {
        type: "polygon",
        silent: true,
        shape: { points: [...upper, ...lower.reverse()] },
        style: { fill: colour, opacity: 0.2 },
      };
    },
  };
}

export function lineSeries(name, points, colour, style = {}) {
  return {
    name,
    type: "line",
    z: 2,
    showSymbol: points.length <= 40,
    symbol: "circle",
    symbolSize: 5,
    itemStyle: { color: colour },
    lineStyle: { color: colour, width: 2, ...style },
    data: points,
  };
}

// Returns y at x by linear interpolation between ascending [x, y] points; null outside of them.
export function valueAt(points, x) {
  for (let i = 1; i < points.length; ++i) {
    const [x0, y0] = points[i - 1];
    const [x1, y1] = points[i];
    if (x >= x0 && x <= x1) return x1 > x0 ? y0 + ((y1 - y0) * (x - x0)) / (x1 - x0) : y0;
  }
  return points.length === 1 && points[0][0] === x ? points[0][1] : null;
}

// The value axis of shares: a little room above and below the curves, never beyond 0 .. 100 %.
export function shareRange(values) {
  const least = Math.min(...values);
  const most = Math.max(...values);
  const room = Math.max(0.08 * (most - least), 0.002);
  return { min: Math.max(0, least - room), max: Math.min(1, most + room) };
}
