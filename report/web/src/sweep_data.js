// The grid of a sweep: its keys with their values as texts and numbers, its points, and the
// quantities that can be shown of each.
import { escapeHtml, percentText, secondsText } from "./chart.js";

const shortNumber = (x) => String(Number(x.toPrecision(4)));

// "3.24 per 1000 node-days" -> 3.24 and its unit; null for words.
function parsed(text) {
  const match = /^([-+]?\d*\.?\d+(?:e[-+]?\d+)?)\s*(.*)$/i.exec(text.trim());
  return match && { number: Number(match[1]), unit: match[2] };
}

// Labels in short form. A unit that all values share goes into the key's name. `numbers`, in base
// units, are null where values are words.
function keyOf({ key, values, numbers = null }) {
  const parts = values.map(parsed);
  if (!numbers || parts.includes(null)) return { key, values, numbers, name: key, labels: values };
  const { unit } = parts[0];
  const shared = parts.every((part) => part.unit === unit);
  const label = (part) => shortNumber(part.number) + (shared || !part.unit ? "" : ` ${part.unit}`);
  const name = shared && unit ? `${key} (${unit})` : key;
  return { key, values, numbers, name, labels: parts.map(label) };
}

export function gridOf(record) {
  const keys = record.vary.map(keyOf);
  const place = (values) => values.join("\n");
  const points = new Map();
  for (const point of record.points) {
    points.set(place(keys.map(({ key }) => point.set[key])), point);
  }
  const best = record.best && record.points.find(({ index }) => index === record.best.index);
  const all = record.best_by?.length ? record.best_by : record.best ? [record.best] : [];
  const marked = new Set(all.map(({ index }) => index));
  return {
    keys,
    best: best ?? null,
    isBest: (point) => marked.has(point.index), // at each value of what is not chosen
    at: (values) => points.get(place(values)),
  };
}

const scaled = (estimate, whole) =>
  estimate && { mean: estimate.mean / whole, low: estimate.low / whole, high: estimate.high / whole };

const numberText = (digits) => (x) => x.toLocaleString("en", { maximumFractionDigits: digits });

// Of the wall time, by cause; nothing without a result.
export function lostShares(result) {
  if (!result?.lost_s || !result.wall_s) return null;
  const share = ([cause, lost_s]) => [cause, (lost_s?.mean ?? 0) / result.wall_s.mean];
  return Object.fromEntries(Object.entries(result.lost_s).map(share));
}

const exactly = (value) => ({ mean: value, low: value, high: value });

// What can be shown: {name, share, better, of(point) -> {mean, low, high} or nothing, text}. What is
// the same at all points is not.
export function metricsOf(points) {
  const ran = points.filter(({ result }) => result);
  const share = { share: true, text: percentText };
  const metrics = [
    { name: "goodput", better: 1, ...share, of: ({ result }) => result.goodput },
    { name: "ETTR", better: 1, ...share, of: ({ result }) => result.ettr },
    ...Object.keys(ran[0]?.result.lost_s ?? {}).map((cause) => ({
      name: `lost: ${cause}`,
      better: -1,
      ...share,
      of: ({ result }) => scaled(result.lost_s[cause], result.wall_s?.mean),
    })),
    {
      name: "step time",
      better: -1,
      text: secondsText,
      of: ({ iteration }) => iteration && exactly(iteration.time_s),
    },
    { name: "days to train", better: -1, text: numberText(1), of: ({ result }) => result.job?.days },
    { name: "cost, USD", better: -1, text: numberText(0), of: ({ result }) => result.job?.cost_usd },
  ];
  const differs = (metric) => {
    const means = ran.map((point) => metric.of(point)?.mean).filter(Number.isFinite);
    return Math.min(...means) < Math.max(...means);
  };
  return ran.length === 0 ? [] : [metrics[0], ...metrics.slice(1).filter(differs)];
}

export function estimateText(metric, { mean, low, high }) {
  return low === high
    ? metric.text(mean)
    : `${metric.text(mean)} (${metric.text(low)} .. ${metric.text(high)})`;
}

export function pointText(point, metrics) {
  const lines = Object.entries(point.set).map(([key, value]) => `${key} = ${value}`);
  const text = `<b>${lines.map(escapeHtml).join("<br>")}</b>`;
  if (!point.result) return `${text}<br>infeasible: ${escapeHtml(point.reason)}`;
  const rows = metrics.flatMap((metric) => {
    const estimate = metric.of(point);
    return estimate ? [`${metric.name}: ${estimateText(metric, estimate)}`] : [];
  });
  return [text, ...rows].join("<br>");
}
