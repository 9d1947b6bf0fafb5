// Where a chart stands on the page.

// A titled place for a chart; `parent` may be a grid of two.
export function panel(parent, title, heightPx, note) {
  const figure = document.createElement("figure");
  const caption = document.createElement("figcaption");
  caption.textContent = title;
  figure.append(caption);
  if (note) {
    const line = document.createElement("p");
    line.className = "note";
    line.textContent = note;
    figure.append(line);
  }
  const chart = document.createElement("div");
  chart.className = "chart";
  chart.style.height = `${heightPx}px`;
  figure.append(chart);
  parent.append(figure);
  return chart;
}
