// What figures are called and how values of each unit are written, as the program says it in the page:
// models/base/text_form.hpp and report/figures/figures.hpp. Nothing here knows a title or a unit.
const given = JSON.parse(document.getElementById("presentation").textContent);
const byKey = new Map(given.figures.map((figure) => [figure.key, figure]));

// From now on numbers of this unit are written without it: they have it only by name.
export const writePlainly = (unit) => { given.units[unit] = given.units.count; };

export const glossary = given.words ?? {};
export const figureOf = (key) => byKey.get(key);
export const groupTitle = (key) => given.groups[key];
export const intervalTitle = given.interval;
export const shownShare = given.shown_share;

const THREE_DIGITS = -1;
const AS_SHORT = -2;
const short = (number, digits = 4) => String(Number(number.toPrecision(digits)));

function numberText(number, decimals) {
  if (decimals === AS_SHORT) return short(number);
  const size = Math.abs(number);
  return number.toFixed(decimals === THREE_DIGITS ? (size < 9.995 ? 2 : size < 99.95 ? 1 : 0) : decimals);
}

function written(unit, value, textOf) {
  const { scales, times, zero } = given.units[unit];
  if (value === 0 && zero) return zero;
  const scale = scales.filter(({ from }) => Math.abs(value * times) >= from).at(-1) ?? scales[0];
  const number = textOf((value * times) / scale.factor, scale.decimals);
  return scale.unit ? `${number} ${scale.unit}` : number;
}

export const valueText = (unit, value) => written(unit, value, numberText);
// Round numbers along an axis: as many digits as they have.
export const tickText = (unit, value) => written(unit, value, (number) => short(number, 6));

// Some five to seven numbers, evenly, that are round in the unit that they are written in.
export function evenTicks(unit, least, most) {
  const { scales, times } = given.units[unit];
  const size = Math.max(Math.abs(least), Math.abs(most)) * times;
  const one = (scales.filter(({ from }) => size >= from).at(-1) ?? scales[0]).factor / times;
  const rough = (most - least) / one / 7;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((digit) => digit * power >= rough);
  const first = Math.ceil(least / one / step);
  const count = Math.floor(most / one / step) - first + 1;
  return Array.from({ length: count }, (_, i) => (first + i) * step * one);
}

// Round numbers between two values of a logarithmic axis, in the units that they are written in.
export function roundTicks(unit, least, most) {
  const { scales, times } = given.units[unit];
  const ticks = [];
  scales.forEach(({ from, factor }, index) => {
    const start = index === 0 ? 0 : from;
    const end = scales[index + 1]?.from ?? Infinity;
    for (let power = index === 0 ? -12 : 0; power < 16; ++power) {
      for (const digit of [1, 2, 5]) {
        const scaled = digit * 10 ** power * factor;
        const value = scaled / times;
        if (scaled >= start && scaled < end && value >= least && value <= most) ticks.push(value);
      }
    }
  });
  if (ticks.length < 3) return evenTicks(unit, least, most);
  const decades = Math.log10(most / least);
  const thinned = decades > 4 ? ticks.filter((_, index) => index % Math.ceil(decades / 3) === 0) : ticks;
  // Two units meet where their labels would: 100 s and 2 min.
  const apart = (index) => index === 0 || Math.log10(thinned[index] / thinned[index - 1]) > 0.05 * decades;
  return thinned.filter((_, index) => apart(index));
}

export const secondsText = (seconds) => valueText("seconds", seconds);
export const percentText = (share) => valueText("share", share);
export const memoryText = (bytes) => valueText("memory", bytes);
// An axis of memory: its ticks, as round as powers of two are, and how they are written.
export const memoryTick = (bytes) => tickText("memory", bytes);
export const memoryStep = (most) => 2 ** Math.ceil(Math.log2(Math.max(most, 1) / 4));

const filled = (pattern, texts) => texts.reduce((text, part) => text.replace("{}", part), pattern);

export function estimateText(unit, { mean, low, high }) {
  const texts = [mean, low, high].map((value) => valueText(unit, value));
  return low === high ? texts[0] : filled(given.estimate, texts);
}
