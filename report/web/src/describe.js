// What stands beside every chart: its figures as a table to take away, its picture, and what it shows
// in words for those who do not see it.
import { button, element, save } from "./dom.js";
import { theme } from "./colours.js";

const fileName = (caption) =>
  `${document.title.split(" · ")[0]} ${caption}`.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

const cell = (value) => {
  const text = String(value ?? "");
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export const csvText = (rows) => rows.map((row) => `${row.map(cell).join(",")}\n`).join("");

// A button that saves the rows of cells that `table()` gives.
export function offer(title, text, table) {
  const own = button(text, { "aria-label": `${title}: figures as ${text}` }, () =>
    save(`data:text/csv;charset=utf-8,${encodeURIComponent(csvText(table()))}`, `${fileName(title)}.csv`),
  );
  return element("span", { className: "offers" }, own);
}

// `about()` gives {words, table}: a sentence or two, and rows of cells below a row of titles, in base
// units. Called when it is asked for, as what is shown may have changed. Returns what says it anew.
export function describe(place, chart, about) {
  const caption = place.closest("figure")?.querySelector("figcaption");
  if (!caption) return () => {};
  const title = caption.textContent;
  const offers = offer(title, "CSV", () => about().table);
  offers.append(
    button("PNG", { "aria-label": `${title}: picture as PNG` }, () =>
      save(
        chart.getDataURL({ type: "png", pixelRatio: 2, backgroundColor: theme().ground }),
        `${fileName(title)}.png`,
      ),
    ),
  );
  caption.append(offers);
  place.setAttribute("role", "img");
  const say = () => place.setAttribute("aria-label", `${title}. ${about().words}`);
  say();
  return say;
}
