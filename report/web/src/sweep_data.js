// The grid of a sweep: its keys with their values as texts and numbers, its points, and the
// quantities that can be shown of each.
import { escapeHtml } from "./chart.js";
import { estimateText, figureOf, valueText } from "./figures.js";

const shortNumber = (x) => String(Number(x.toPrecision(4)));

// "3.24 per 1000 node-days" becomes 3.24 and its unit; null if the text begins with no number.
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
  const standing = all.filter(({ stands_out }) => stands_out !== false);
  const marked = new Set(standing.flatMap(({ index, equals = [] }) => [index, ...equals]));
  return {
    keys,
    best: best ?? null,
    // Or as good, at each value of what is not chosen; none where all are.
    isBest: (point) => marked.has(point.index),
    anyBest: marked.size > 0,
    at: (values) => points.get(place(values)),
  };
}

// Lost shares of the wall time, by cause; null without a result.
export function lostShares(result) {
  if (!result?.lost) return null;
  return Object.fromEntries(Object.entries(result.lost).map(([cause, lost]) => [cause, lost?.mean ?? 0]));
}

// What a point has at a figure's key, as an interval; nothing where it is not known. A point keeps the
// campaign of its run document as its result.
function valueAt({ iteration, result }, key) {
  const value = key.split(".").reduce((part, name) => part?.[name], { iteration, campaign: result });
  return typeof value === "number" ? { mean: value, low: value, high: value } : value;
}

// What can be shown: {name, help, unit, better, of(point) -> {mean, low, high} or nothing, text}. What
// is the same at all points is not.
export function metricsOf(keys, points) {
  const ran = points.filter(({ result }) => result);
  const metrics = keys.map((key) => {
    const { title, help, unit, better } = figureOf(key);
    const text = (value) => valueText(unit, value);
    const sign = better === "lower" ? -1 : 1;
    return { name: title, help, unit, share: unit === "share", better: sign, text, of: (point) => valueAt(point, key) };
  });
  const differs = (metric) => {
    const means = ran.map((point) => metric.of(point)?.mean).filter(Number.isFinite);
    return Math.min(...means) < Math.max(...means);
  };
  return ran.length === 0 ? [] : [metrics[0], ...metrics.slice(1).filter(differs)];
}

export function pointText(point, metrics) {
  const lines = Object.entries(point.set).map(([key, value]) => `${key} = ${value}`);
  const text = `<b>${lines.map(escapeHtml).join("<br>")}</b>`;
  if (!point.result) return `${text}<br>infeasible: ${escapeHtml(point.reason)}`;
  const rows = metrics.flatMap((metric) => {
    const estimate = metric.of(point);
    return estimate ? [`${metric.name}: ${estimateText(metric.unit, estimate)}`] : [];
  });
  return [text, ...rows].join("<br>");
}
