// What stands beside every chart: its figures as a table to take away, its picture, and what it shows
// in words for those who do not see it.
import { theme } from "./colours.js";

const fileName = (caption) =>
  `${document.title.split(" · ")[0]} ${caption}`.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

const cell = (value) => {
  const text = String(value ?? "");
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export const csvText = (rows) => rows.map((row) => `${row.map(cell).join(",")}\n`).join("");

function save(url, name) {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}

function button(text, label, clicked) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  element.setAttribute("aria-label", label);
  element.addEventListener("click", clicked);
  return element;
}

// A button that saves the rows of cells that `table()` gives.
export function offer(title, text, table) {
  const offers = document.createElement("span");
  offers.className = "offers";
  offers.append(
    button(text, `${title}: figures as ${text}`, () =>
      save(`data:text/csv;charset=utf-8,${encodeURIComponent(csvText(table()))}`, `${fileName(title)}.csv`),
    ),
  );
  return offers;
}

// `about()` gives {words, table}: a sentence or two, and rows of cells below a row of titles, in base
// units. Called when it is asked for, as what is shown may have changed. Returns what says it anew.
export function describe(element, chart, about) {
  const caption = element.closest("figure")?.querySelector("figcaption");
  if (!caption) return () => {};
  const title = caption.textContent;
  const offers = offer(title, "CSV", () => about().table);
  offers.append(
    button("PNG", `${title}: picture as PNG`, () =>
      save(
        chart.getDataURL({ type: "png", pixelRatio: 2, backgroundColor: theme().ground }),
        `${fileName(title)}.png`,
      ),
    ),
  );
  caption.append(offers);
  element.setAttribute("role", "img");
  const say = () => element.setAttribute("aria-label", `${title}. ${about().words}`);
  say();
  return say;
}
