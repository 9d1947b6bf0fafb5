// What a reader asks a Gantt chart: where tasks of a name are, what the critical path is, and how much
// time each kind of task takes in a range. `rows` as gantt.js has them.
import { division, element, table } from "./dom.js";
import { percentText, secondsText, valueText } from "./figures.js";

// Flags of the tasks of each row whose name holds the text; null: nothing is sought.
export function matches(rows, text) {
  const sought = text.trim().toLowerCase();
  if (!sought) return null;
  return rows.map((row) => Uint8Array.from(row.name, (name) => Number(name.toLowerCase().includes(sought))));
}

// Seconds that tasks have between two times, by their category and by their row's stream.
export function sumsIn(rows, from_ns, to_ns) {
  const kinds = new Map();
  const streams = new Map();
  const add = (sums, name, seconds) => sums.set(name, (sums.get(name) ?? 0) + seconds);
  for (const row of rows) {
    row.start_ns.forEach((start, i) => {
      const inside = Math.min(start + row.duration_ns[i], to_ns) - Math.max(start, from_ns);
      if (inside <= 0) return;
      add(kinds, row.category[i], inside / 1e9);
      if (row.stream) add(streams, row.stream, inside / 1e9);
    });
  }
  const falling = (sums) => [...sums].sort((a, b) => b[1] - a[1]);
  return { kinds: falling(kinds), streams: falling(streams) };
}

// A box that lights the tasks of a name; Enter goes from one to the next. `lit` gets the flags,
// `show` a row and task to be brought into view. Its again() is for when rows have changed.
export function searchBox(rows, { lit, show }) {
  const label = "find tasks by name; Enter shows the next one";
  const input = element("input", { type: "search", placeholder: "find tasks", size: 16, "aria-label": label });
  const said = element("output");
  let found = [];
  let at = -1;
  const seek = () => {
    const flags = matches(rows, input.value);
    found = [];
    at = -1;
    let sum_ns = 0;
    flags?.forEach((row, r) =>
      row.forEach((yes, i) => {
        if (!yes) return;
        found.push([r, i]);
        sum_ns += rows[r].duration_ns[i];
      }),
    );
    found.sort((a, b) => rows[a[0]].start_ns[a[1]] - rows[b[0]].start_ns[b[1]]);
    said.textContent = flags ? `${found.length} tasks, ${secondsText(sum_ns / 1e9)} in all` : "";
    lit(flags);
  };
  input.addEventListener("input", seek);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || found.length === 0) return;
    event.preventDefault();
    at = (at + (event.shiftKey ? found.length - 1 : 1)) % found.length;
    const [row, task] = found[at];
    said.textContent = `${at + 1} of ${found.length}: ${rows[row].name[task]} on ${rows[row].rank}`;
    show(rows[row], task);
  });
  return Object.assign(element("label", { className: "search" }, input, said), { again: seek });
}

// The tables of a range, by kind and by stream: `update(from_ns, to_ns)` fills them and the two
// fields, through which a range is given without a pointer. `rows` may change in place.
export function rangeTable(rows, categories, changed) {
  const field = (label) => element("input", { type: "number", step: "any", min: 0, "aria-label": label });
  const from = field("from, milliseconds");
  const to = field("to, milliseconds");
  const tables = division("sums");
  const box = element(
    "div",
    { className: "range", hidden: true },
    element("label", {}, "from ", from, " ms"),
    element("label", {}, " to ", to, " ms"),
    tables,
  );
  for (const input of [from, to]) {
    input.addEventListener("change", () => {
      const [a, b] = [Number(from.value) * 1e6, Number(to.value) * 1e6];
      if (b > a) changed(a, b);
    });
  }
  const titles = ["time", "of the range, per rank"];
  const tableOf = (caption, what, sums, whole_s) => {
    const rows = sums.map(([name, sum_s]) => [name, valueText("seconds", sum_s), percentText(sum_s / whole_s)]);
    return table([what, ...titles], rows, "", caption);
  };
  const update = (from_ns, to_ns) => {
    from.value = String(Number((from_ns / 1e6).toPrecision(6)));
    to.value = String(Number((to_ns / 1e6).toPrecision(6)));
    const groups = new Map(); // a chart of several points has a table of each
    for (const row of rows) groups.set(row.group ?? "", [...(groups.get(row.group ?? "") ?? []), row]);
    tables.replaceChildren(
      ...[...groups].flatMap(([group, own]) => {
        const ranks = new Set(own.map(({ rank }) => rank)).size;
        const whole_s = ((to_ns - from_ns) / 1e9) * ranks;
        const { kinds, streams } = sumsIn(own, from_ns, to_ns);
        const of = `${group ? `${group}: ` : ""}summed over ${ranks} ranks`;
        const named = kinds.map(([category, sum_s]) => [categories[category], sum_s]);
        const byKind = tableOf(`Time by kind, ${of}`, "kind", named, whole_s);
        return streams.length > 1 ? [byKind, tableOf(`Time by stream, ${of}`, "stream", streams, whole_s)] : [byKind];
      }),
    );
  };
  return { box, update };
}
