// What a term means, beside it: on hover, on focus by keyboard and on touch. The texts stand in the
// page as titles, so that they can be read without scripts.
const ROOM_PX = 8;

let tip = null;
const hide = () => { tip.style.display = "none"; };

// Made once, however often parts of a page are explained.
function makeTip() {
  tip = document.createElement("div");
  tip.className = "tip help";
  tip.id = "help";
  tip.setAttribute("role", "tooltip");
  document.body.append(tip);
  document.addEventListener("keydown", ({ key }) => key === "Escape" && hide());
  window.addEventListener("scroll", hide, { passive: true });
}

export function explainTerms(root) {
  if (!tip) makeTip();
  const show = (term) => {
    tip.textContent = term.dataset.help;
    tip.style.display = "block";
    const place = term.getBoundingClientRect();
    const left = Math.min(place.left, window.innerWidth - tip.offsetWidth - ROOM_PX);
    const below = place.bottom + ROOM_PX + tip.offsetHeight < window.innerHeight;
    tip.style.left = `${Math.max(ROOM_PX, left)}px`;
    tip.style.top = `${below ? place.bottom + 4 : place.top - tip.offsetHeight - 4}px`;
  };
  for (const term of root.querySelectorAll(".term[title], th[title]")) {
    term.dataset.help = term.title;
    term.removeAttribute("title"); // the browser would show it, too
    term.setAttribute("aria-describedby", tip.id);
    term.addEventListener("mouseenter", () => show(term));
    term.addEventListener("focus", () => show(term));
    term.addEventListener("mouseleave", hide);
    term.addEventListener("blur", hide);
  }
}
