// Elements of the page: how they are made, buttons and tables among them.

// `properties` are those that the element has, the others its attributes; `style` is a map.
export function element(tag, { style, ...properties } = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  Object.assign(node.style, style);
  node.append(...children);
  return node;
}

export const division = (className, ...children) =>
  element("div", className ? { className } : {}, ...children);

export function button(content, properties, clicked) {
  const node = element("button", { type: "button", ...properties }, ...[content].flat());
  node.addEventListener("click", clicked);
  return node;
}

// A button that stays pressed until the next click; it stays as it is where `changed(now)` is false.
export function toggle(content, properties, pressed, changed) {
  const node = button(content, { "aria-pressed": pressed, ...properties }, () => {
    const now = node.getAttribute("aria-pressed") !== "true";
    if (changed(now) !== false) node.setAttribute("aria-pressed", now);
  });
  return node;
}

// Buttons for some categories (or curves) that show and hide each.
export function legend(place, categories, used, fills, hidden, redraw) {
  place.className = "legend";
  for (const category of used) {
    const swatch = element("i", { style: { background: fills[category] } });
    place.append(
      toggle([swatch, categories[category]], {}, true, (shown) => {
        if (shown) hidden.delete(category);
        else hidden.add(category);
        redraw();
      }),
    );
  }
}

// Rows of texts below their titles; the first text of a row names it.
export function table(titles, rows, className = "", caption = "") {
  const cells = ([name, ...texts]) => [
    element("th", { scope: "row" }, name),
    ...texts.map((text) => element("td", {}, text)),
  ];
  const head = element("tr", {}, ...titles.map((title) => element("th", { scope: "col" }, title)));
  return element(
    "table",
    className ? { className } : {},
    ...(caption ? [element("caption", {}, caption)] : []),
    element("thead", {}, head),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells(row)))),
  );
}

// A labelled <select>; `changed` gets the chosen index.
export function choice(parent, label, options, chosen, changed) {
  const select = element("select", {}, ...options.map((text, index) => new Option(text, String(index))));
  select.value = String(chosen);
  select.addEventListener("change", () => changed(Number(select.value)));
  parent.append(element("label", {}, label, select));
  return select;
}

// A titled place for a chart; `parent` may be a grid of two. `hint`: what can be done with it on a
// screen, which paper leaves out.
export function panel(parent, title, heightPx, note, hint) {
  const chart = element("div", { className: "chart", style: { height: `${heightPx}px` } });
  const said = element("span", { className: "hint" }, hint ? `${hint} ` : "");
  const line = note || hint ? [element("p", { className: "note" }, said, note ?? "")] : [];
  parent.append(element("figure", {}, element("figcaption", {}, title), ...line, chart));
  return chart;
}

export function save(url, name) {
  element("a", { href: url, download: name }).click();
}
