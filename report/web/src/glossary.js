// What a term means, beside it: on hover, on focus by keyboard and on touch. The texts stand in the
// page as titles, so that they can be read without scripts.
import { element } from "./dom.js";

const ROOM_PX = 8;

// Where a word of the glossary first stands in the page's sentences, it is a term. Commands and what
// has an explanation of its own are left alone.
const ALONE = ".term, th, dt, button, a, code, h1, h2, script, noscript, figure, details";

export function markWords(root, words) {
  const seen = new Set([...root.querySelectorAll(".term")].map((term) => term.textContent));
  const names = Object.keys(words).sort((a, b) => b.length - a.length);
  if (names.length === 0) return;
  const escaped = names.map((name) => name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&"));
  const pattern = new RegExp(`(?<![\\w./=-])(?:${escaped.join("|")})(?![\\w/=-]|\\.\\w)`, "g");
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  for (const node of nodes) {
    if (node.parentElement.closest(ALONE) || node.data.includes("windtunnel ")) continue;
    const parts = [];
    let from = 0;
    for (const { 0: name, index } of node.data.matchAll(pattern)) {
      if (seen.has(name)) continue;
      seen.add(name);
      const term = element("span", { className: "term", tabIndex: 0, title: words[name] }, name);
      parts.push(node.data.slice(from, index), term);
      from = index + name.length;
    }
    if (parts.length > 0) node.replaceWith(...parts, node.data.slice(from));
  }
}

let tip = null;
const hide = () => { tip.style.display = "none"; };

function show(term) {
  tip.textContent = term.dataset.help;
  tip.style.display = "block";
  const place = term.getBoundingClientRect();
  const left = Math.min(place.left, window.innerWidth - tip.offsetWidth - ROOM_PX);
  const below = place.bottom + ROOM_PX + tip.offsetHeight < window.innerHeight;
  tip.style.left = `${Math.max(ROOM_PX, left)}px`;
  tip.style.top = `${below ? place.bottom + 4 : place.top - tip.offsetHeight - 4}px`;
}

// Made once, with listeners for all terms that there will be.
function makeTip() {
  tip = element("div", { className: "tip help", id: "help", role: "tooltip" });
  document.body.append(tip);
  const termOf = ({ target }) => (target instanceof Element ? target.closest("[data-help]") : null);
  for (const came of ["mouseover", "focusin"]) {
    document.addEventListener(came, (event) => termOf(event) && show(termOf(event)));
  }
  for (const left of ["mouseout", "focusout"]) {
    document.addEventListener(left, (event) => termOf(event) && hide());
  }
  document.addEventListener("keydown", ({ key }) => key === "Escape" && hide());
  window.addEventListener("scroll", hide, { passive: true });
}

export function explainTerms(root) {
  if (!tip) makeTip();
  for (const term of root.querySelectorAll(".term[title], th[title]")) {
    term.dataset.help = term.title;
    term.removeAttribute("title"); // the browser would show it, too
    term.setAttribute("aria-describedby", tip.id);
  }
}
