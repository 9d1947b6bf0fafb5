// Tables: their figures to take away, keys for those that are wider than the screen, and words that
// stay whole at the ends of lines.
import { element } from "./dom.js";
import { offer } from "./describe.js";

const cellsOf = (row) =>
  [...row.cells].map((cell) => (cell.querySelector("small") ? cell.firstChild : cell).textContent.trim());

function offerTable(table) {
  const scroll = table.parentElement;
  const heading = scroll.parentElement.querySelector(":scope > h2");
  const title = heading?.textContent ?? document.querySelector("h1").textContent;
  if (!table.querySelector("caption, td")) return;
  const rows = () => [...table.rows].map(cellsOf);
  const button = offer(title, "CSV", rows);
  if (heading) heading.append(button);
  else scroll.before(button);
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", title);
}

// One that scrolls is a stop of the keyboard, whose arrows then move it.
function reach(scroll) {
  const scrolls = scroll.scrollWidth > scroll.clientWidth || scroll.scrollHeight > scroll.clientHeight;
  if (scrolls) scroll.tabIndex = 0;
  else scroll.removeAttribute("tabindex");
}

export function offerTables(root) {
  const scrolls = [...root.querySelectorAll(".scroll")];
  for (const scroll of scrolls) for (const table of scroll.querySelectorAll(":scope > table")) offerTable(table);
  const observer = new ResizeObserver((entries) => entries.forEach(({ target }) => reach(target)));
  scrolls.forEach((scroll) => observer.observe(scroll));
}

// Browsers break lines after hyphens: in "zb-h1" and before "out" of "--out". Longer words than these
// would not fit a narrow screen.
const HYPHENED = /[^\s-]*-[^\s]+/g;
const LONGEST = 28; // letters

export function keepWhole(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  for (const node of nodes) {
    if (!node.data.includes("-") || !node.parentElement.closest("td, th, dd, header p")) continue;
    const parts = [];
    let from = 0;
    for (const { 0: word, index } of node.data.matchAll(HYPHENED)) {
      if (word.length > LONGEST) continue;
      const whole = element("span", { className: "whole" }, word);
      parts.push(node.data.slice(from, index), whole);
      from = index + word.length;
    }
    if (parts.length > 0) node.replaceWith(...parts, node.data.slice(from));
  }
}
