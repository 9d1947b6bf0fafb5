// Where a chart stands on the page.

// A titled place for a chart; `parent` may be a grid of two. `hint`: what can be done with it on a
// screen, which paper leaves out.
export function panel(parent, title, heightPx, note, hint) {
  const figure = document.createElement("figure");
  const caption = document.createElement("figcaption");
  caption.textContent = title;
  figure.append(caption);
  if (note || hint) {
    const line = document.createElement("p");
    line.className = "note";
    const said = document.createElement("span");
    said.className = "hint";
    said.textContent = hint ? `${hint} ` : "";
    line.append(said, note ?? "");
    figure.append(line);
  }
  const chart = document.createElement("div");
  chart.className = "chart";
  chart.style.height = `${heightPx}px`;
  figure.append(chart);
  parent.append(figure);
  return chart;
}
