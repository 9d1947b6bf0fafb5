// What is wrong with a page in a frame of `width` pixels, as a reader would find it: nothing drawn,
// something beyond the screen, a block over another, text that is hard to read or over other text in a
// chart, a control that no key reaches. Texts, one for each fault. Read by browser.cpp.
const LEAST_CONTRAST = 4.5; // of WCAG 2, level AA

function channelsOf(page) {
  const context = page.document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  return (colour) => {
    if (!known.has(colour)) {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
      known.set(colour, [r, g, b, a / 255]);
    }
    return known.get(colour);
  };
}

// Returns the colour seen if a transparent colour lies over an opaque one.
const over = ([r, g, b, a], ground) => [r, g, b].map((c, i) => a * c + (1 - a) * ground[i]);

function contrast(one, other) {
  const light = (channels) => {
    const linear = channels.map((c) => (c <= 10 ? c / 3295 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.05 + 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b);
  return bright / dark;
}

const said = (text) => text.trim().slice(0, 40);
const named = (e) => `${e.tagName}.${e.className} ${said(e.textContent)}`;
const shown = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true });

// Returns the colour behind an element: the grounds of all elements that contain it, one over the
// other.
function groundOf(page, element, channels) {
  const grounds = [];
  for (let e = element; e; e = e.parentElement) {
    const ground = channels(page.getComputedStyle(e).backgroundColor);
    if (ground[3] > 0) grounds.push(ground);
    if (ground[3] === 1) break;
  }
  const onPaper = page.document.documentElement.classList.contains("on-paper");
  const dark = !onPaper && page.matchMedia("(prefers-color-scheme: dark)").matches;
  const sheet = dark ? [18, 18, 18] : [255, 255, 255];
  return grounds.reverse().reduce((below, ground) => over(ground, below), sheet);
}

function textFaults(page, channels) {
  const faults = [];
  const walker = page.document.createTreeWalker(page.document.querySelector("main"), 4);
  const judged = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || judged.has(element) || element.closest("script, noscript, style")) continue;
    judged.add(element);
    if (!shown(element)) continue;
    const ground = groundOf(page, element, channels);
    const ink = over(channels(page.getComputedStyle(element).color), ground);
    const found = contrast(ink, ground);
    if (found < LEAST_CONTRAST) faults.push(`${found.toFixed(1)} of contrast: ${named(element)}`);
  }
  return faults;
}

// Texts and boxes of a chart in the order in which they are drawn, with their places.
function chartParts(chart) {
  return chart.getZr().storage.getDisplayList(true).flatMap((part) => {
    const text = part.type === "tspan" ? String(part.style.text ?? "").trim() : "";
    const filled = part.type === "rect" && typeof part.style.fill === "string" && part.style.fill !== "none";
    if ((!text && !filled) || part.ignore || part.invisible || part.style.opacity === 0) return [];
    const transform = part.getComputedTransform();
    const slanted = Boolean(transform && Math.abs(transform[1]) > 0.01);
    const rect = part.getBoundingRect().clone();
    if (transform) rect.applyTransform(transform);
    return [{ text, fill: part.style.fill, opacity: part.style.opacity ?? 1, rect, slanted }];
  });
}

function chartFaults(page, channels) {
  const faults = [];
  for (const chart of page.windtunnel.charts) {
    const [width, height] = [chart.getWidth(), chart.getHeight()];
    const title = chart.getDom().closest("figure")?.querySelector("figcaption")?.firstChild.textContent ?? "";
    const sheet = groundOf(page, chart.getDom(), channels);
    const parts = chartParts(chart);
    const texts = [];
    parts.forEach((part, at) => {
      if (!part.text) return;
      const { rect, slanted, text } = part;
      const where = `in '${title}': ${said(text)}`;
      if (rect.x < -2 || rect.x + rect.width > width + 2 || rect.y < -3 || rect.y + rect.height > height + 3) {
        faults.push(`cut ${where}`);
      }
      const [x, y] = [rect.x + rect.width / 2, rect.y + rect.height / 2];
      const within = ({ rect: box }) =>
        x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
      const behind = parts.slice(0, at).filter((other) => !other.text && within(other));
      const ground = behind.reduce((below, box) => {
        const [r, g, b, a] = channels(box.fill);
        return over([r, g, b, a * box.opacity], below);
      }, sheet);
      const found = contrast(over(channels(part.fill), ground), ground);
      if (found < LEAST_CONTRAST) faults.push(`${found.toFixed(1)} of contrast ${where}`);
      if (!slanted) texts.push(part);
    });
    texts.forEach((one, i) => {
      for (const other of texts.slice(i + 1)) {
        const shared = (from, size) =>
          Math.min(one.rect[from] + one.rect[size], other.rect[from] + other.rect[size]) -
          Math.max(one.rect[from], other.rect[from]);
        if (shared("x", "width") > 2 && shared("y", "height") > 4) {
          faults.push(`over each other in '${title}': ${said(one.text)}, ${said(other.text)}`);
        }
      }
    });
  }
  return faults;
}

function placeFaults(page, width) {
  const faults = [];
  const { document: d } = page;
  const inside = (element) => element.closest(".scroll") !== null;
  if (d.documentElement.scrollWidth > width) faults.push(`${d.documentElement.scrollWidth} wide`);
  for (const e of d.querySelectorAll("main *:not(script)")) {
    const { right, left, width: own } = e.getBoundingClientRect();
    const beyond = own > 0 && (right > width + 1 || left < -1);
    if (beyond && !inside(e)) faults.push(`beyond: ${named(e)}`);
  }
  const kinds = "main > *, section, figure, figcaption > *, .figures > div, p, table";
  const stays = (e) => page.getComputedStyle(e).position === "sticky"; // in view above the others
  const blocks = [...d.querySelectorAll(kinds)].filter((e) => !inside(e) && !stays(e));
  const boxes = blocks.map((e) => [e, e.getBoundingClientRect()]);
  boxes.forEach(([a, one], i) => {
    for (const [b, other] of boxes.slice(i + 1)) {
      if (a.contains(b) || b.contains(a)) continue;
      const shares = (from, to) => Math.min(one[to], other[to]) - Math.max(one[from], other[from]) > 1;
      if (shares("left", "right") && shares("top", "bottom")) faults.push(`${named(a)} over ${named(b)}`);
    }
  });
  return faults;
}

function keyFaults(page) {
  const faults = [];
  const { document: d } = page;
  const controls = "button:not(:disabled), select, input, a[href], summary, .term, th[tabindex]";
  for (const e of d.querySelectorAll(controls)) {
    if (!shown(e)) continue;
    e.focus();
    if (d.activeElement !== e || e.tabIndex < 0) faults.push(`not reached: ${named(e)}`);
    if (page.getComputedStyle(e).outlineStyle === "none") faults.push(`focus is not seen: ${named(e)}`);
  }
  d.activeElement?.blur();
  return faults;
}

function figureFaults(page) {
  const faults = [];
  const figures = [...page.document.querySelectorAll("figure")];
  for (const figure of figures) {
    const words = figure.querySelector("[role=img]")?.getAttribute("aria-label") ?? "";
    if (words.length < 20) faults.push(`no words: ${named(figure)}`);
    const pictures = [...figure.querySelectorAll("canvas")].map((e) => e.getBoundingClientRect().width);
    if (Math.max(0, ...pictures) < 100) faults.push(`no picture: ${named(figure)}`);
  }
  if (figures.length < page.document.querySelectorAll("[data-chart]").length) faults.push("not every chart is there");
  return faults;
}

// Applies the rules of print instead of those of a screen, as on paper.
function print(page) {
  for (const sheet of page.document.styleSheets) {
    for (const { media } of [...sheet.cssRules].filter((rule) => rule.media)) {
      if (media.mediaText === "print") media.mediaText = "all";
      else if (media.mediaText.startsWith("screen")) media.mediaText = "not all";
    }
  }
  page.dispatchEvent(new Event("beforeprint"));
}

function faultsOf(page, width, printed) {
  if (page.document.body.dataset.ready !== "1") return ["not drawn"];
  const channels = channelsOf(page);
  if (printed) print(page);
  const faults = [placeFaults, figureFaults].flatMap((find) => find(page, width));
  faults.push(...[textFaults, chartFaults].flatMap((find) => find(page, channels)));
  if (!printed) return [...faults, ...keyFaults(page)];
  for (const e of page.document.querySelectorAll("button, select, input, summary, .head .tools")) {
    if (shown(e) && !e.closest(".legend")) faults.push(`on paper: ${named(e)}`);
  }
  page.dispatchEvent(new Event("afterprint"));
  if (page.document.querySelector(".on-paper, .picture")) faults.push("not back on the screen");
  return faults;
}
