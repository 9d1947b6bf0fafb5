// A button per category (or curve) that shows and hides it.
export function legend(element, categories, used, fills, hidden, redraw) {
  element.className = "legend";
  for (const category of used) {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    const swatch = document.createElement("i");
    swatch.style.background = fills[category];
    button.append(swatch, categories[category]);
    button.addEventListener("click", () => {
      if (!hidden.delete(category)) hidden.add(category);
      button.setAttribute("aria-pressed", String(!hidden.has(category)));
      redraw();
    });
    element.append(button);
  }
}
