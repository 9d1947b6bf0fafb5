// The page of `windtunnel serve`: asks the server at every move, draws its answer as the page of a
// run, and keeps one state beside the current one. Both states stand in the address.
import { forgetCharts } from "./chart.js";
import { button, division, element, save, table } from "./dom.js";
import { glossary } from "./figures.js";
import { explainTerms, markWords } from "./glossary.js";
import { drawControls } from "./live_controls.js";
import { drawRun } from "./run.js";
import { keepWhole, offerTables } from "./tables.js";

const QUICK_MS = 300; // an answer that takes no longer is waited for whole
const PAUSE_MS = 200; // without a move, after which what is not in view is drawn, and limits are asked

const token = new URLSearchParams(location.search).get("token") ?? "";

async function ask(path, settings) {
  const response = await fetch(path, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ set: settings }),
  }).catch(() => {
    throw new Error("The server does not answer; is windtunnel serve still running?");
  });
  if (response.ok) return response;
  if (response.status === 403) {
    throw new Error("This address belongs to an earlier server; open the address that windtunnel serve prints.");
  }
  const fault = await response.json().catch(() => ({ error: response.statusText }));
  const what = response.status === 422 ? "These values are not possible" : "The server failed";
  throw new Error(`${what}: ${fault.error}`);
}

// Draws at once what is in view; the rest when moves pause or it is scrolled to, so that a drag waits
// for what it shows alone.
function inView() {
  let waiting = []; // {place, draw}
  let timer = 0;
  // In their order up to the last one that is due: a chart may need the ones above.
  const draw = (due) => {
    const last = waiting.findLastIndex(({ place }) => due(place));
    for (const each of waiting.splice(0, last + 1)) {
      each.place.style.minHeight = "";
      each.draw();
    }
  };
  const seen = (place) => {
    const { top, bottom } = place.getBoundingClientRect();
    return top < window.innerHeight && bottom > 0;
  };
  const rest = () => draw(() => true);
  const listening = new AbortController();
  const { signal } = listening;
  window.addEventListener("scroll", () => waiting.length > 0 && draw(seen), { passive: true, signal });
  window.addEventListener("beforeprint", rest, { signal });
  return {
    stop() {
      clearTimeout(timer);
      listening.abort();
    },
    // Forgets what is not drawn yet. `heights` are those of the rows that stood there before, whose
    // room is kept; without one a row is drawn at once.
    restart(heights) {
      clearTimeout(timer);
      waiting = [];
      let row = 0;
      const places = [];
      return {
        inTurn(place, drawRow) {
          const height = heights[row];
          row += 1;
          // A new row waits, too, where one before it does: it may need what that one draws.
          if (height === undefined && places.length === 0) drawRow();
          else {
            if (height !== undefined) place.style.minHeight = `${height}px`;
            places.push({ place, draw: drawRow });
          }
        },
        // Once all have their places.
        done() {
          waiting = places;
          draw(seen);
          if (waiting.length > 0) timer = setTimeout(rest, PAUSE_MS);
        },
      };
    },
  };
}

function settingsText(settings) {
  const changed = Object.entries(settings).map(([key, value]) => `${key} = ${value}`);
  return changed.length > 0 ? changed.join(", ") : "as the scenario has it";
}

// A place for one state, which takes answer after answer.
function stateColumn() {
  const heading = element("h2");
  const said = element("p", { className: "settings" });
  const summary = division("");
  const charts = division("state-charts");
  const column = element("section", { className: "state" }, heading, said, summary);
  const view = inView();
  let dressed = true;
  return {
    column,
    show(title, { settings, answer }) {
      heading.textContent = title;
      said.textContent = settingsText(settings);
      const { inTurn, done } = view.restart([...charts.children].map((row) => row.offsetHeight));
      forgetCharts(charts);
      charts.replaceChildren();
      summary.innerHTML = answer.summary; // made and escaped by the server
      summary.querySelector(".figures")?.after(charts);
      explainTerms(summary);
      drawRun(answer.record, charts, inTurn);
      done();
      dressed = false;
    },
    // What a page has and a drag needs not: words explained and kept whole, figures to take away.
    dress() {
      if (dressed) return;
      dressed = true;
      markWords(summary, glossary);
      explainTerms(summary);
      keepWhole(summary);
      offerTables(column);
    },
    remove() {
      view.stop();
      forgetCharts(charts);
      column.remove();
    },
  };
}

// The figures of both states, a row each.
function drawDifferences(kept, current) {
  const now = new Map(current.record.summary.figures.map((row) => [row.label, row]));
  const text = (row) => (row ? [row.value, row.detail].filter(Boolean).join(", ") : "–");
  const rows = kept.record.summary.figures.map((row) => [row.label, text(row), text(now.get(row.label))]);
  // It scrolls on a narrow screen.
  return division("scroll", table(["figure", "kept", "current"], rows, "comparison differences"));
}

function saveText(text, name) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/yaml" }));
  save(url, `${name}.yaml`);
  URL.revokeObjectURL(url);
}

// The address holds both states. The settings of the kept one stand in a parameter of their own.
function addressOf(settings, kept) {
  const address = new URLSearchParams(settings);
  if (kept) address.set("kept", new URLSearchParams(kept.settings));
  return `#${address}`;
}

function statesOf(address) {
  const settings = Object.fromEntries(new URLSearchParams(address.slice(1)));
  const { kept, ...current } = settings;
  return { current, kept: kept === undefined ? null : Object.fromEntries(new URLSearchParams(kept)) };
}

export function drawLive({ name, controls, campaign }, root) {
  const status = element("p", { className: "live-status", role: "status" });
  const states = division("states");
  let current = null; // {settings, answer}
  let kept = null;
  let asking = false;
  let again = false; // moved since it asked
  let tookMs = Infinity; // the last whole answer
  let pauseTimer = 0;

  const now = stateColumn();
  let before = null; // the column of what is kept
  let differences = null;

  // Figures of both states above them, where one is kept.
  const showDifferences = () => {
    differences?.remove();
    differences = kept && current ? drawDifferences(kept.answer, current.answer) : null;
    if (differences) states.prepend(differences);
  };

  const redraw = () => {
    now.show(kept ? "Current" : "", current);
    showDifferences();
  };

  const keep = (state) => {
    before?.remove();
    before = null;
    kept = state;
    forget.disabled = !kept;
    states.classList.toggle("two", Boolean(kept));
    if (kept) {
      before = stateColumn();
      states.prepend(before.column);
      before.show("Kept", kept);
    }
    if (current) redraw();
  };

  const panel = drawControls(controls, () => update());

  const tell = (fault) => {
    status.textContent = fault.message;
    status.classList.add("fault");
  };
  const answerTo = async (settings, path = "/answer") => ({
    settings,
    answer: await (await ask(path, settings)).json(),
  });
  const writeAddress = () => history.replaceState(null, "", addressOf(panel.settings(), kept));

  // One question at a time; what was moved meanwhile is asked next, and only the newest.
  async function update() {
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    clearTimeout(pauseTimer);
    do {
      again = false;
      const settings = panel.settings();
      const begin = performance.now();
      try {
        status.classList.add("computing");
        if (campaign && tookMs > QUICK_MS) {
          status.textContent = "Computing the step …";
          current = await answerTo(settings, "/step");
          redraw();
          if (again) continue; // the campaign of what is shown by then is not wanted any more
          status.textContent = "The step is computed; computing the campaign …";
        }
        current = await answerTo(settings);
        const took = Math.round(performance.now() - begin);
        tookMs = took;
        status.textContent = `Answered in ${took} ms.`;
        status.classList.remove("fault");
        document.body.dataset.tookMs = took;
        redraw();
        brief.textContent = current.answer.record.summary.figures
          .map(({ label, value }) => `${label} ${value}`)
          .join(" · ");
      } catch (fault) {
        tell(fault);
      } finally {
        status.classList.remove("computing");
      }
      document.body.dataset.settings = new URLSearchParams(settings);
      document.body.dataset.answers = Number(document.body.dataset.answers ?? 0) + 1;
    } while (again);
    asking = false;
    // Once a drag pauses: browsers refuse what changes the address a hundred times in a row.
    writeAddress();
    pauseTimer = setTimeout(pause, PAUSE_MS);
  }

  // After the answer, and only while nothing is moved.
  function pause() {
    now.dress();
    before?.dress();
    showLimits();
  }

  async function showLimits() {
    const settings = panel.settings();
    try {
      const limits = await (await ask("/limits", settings)).json();
      const newest = JSON.stringify(settings) === JSON.stringify(panel.settings());
      if (newest) panel.setLimits(limits);
    } catch {
      panel.setLimits({});
    }
  }

  const brief = element("p", { className: "live-brief" }); // where the figures are out of view
  const tools = division("live-tools");
  const forget = button("Forget kept state", { title: "shows a single state again" }, () => {
    keep(null);
    writeAddress();
  });
  forget.disabled = true;
  tools.append(
    button("Keep for comparison", { title: "shows this state next to later ones" }, () => {
      if (!current) return;
      keep(current);
      writeAddress();
    }),
    forget,
    button("Reset to the scenario", { title: "sets all values back" }, () => {
      panel.set({});
      update();
    }),
    button("Save as scenario", { title: "writes a file for windtunnel run" }, async () => {
      try {
        saveText(await (await ask("/scenario", panel.settings())).text(), name);
      } catch (fault) {
        tell(fault);
      }
    }),
    button("Copy address", { title: "copies a link to this state, for users of this server" }, async () => {
      try {
        await navigator.clipboard.writeText(location.href);
        status.textContent = "The address of this state is in the clipboard.";
      } catch {
        status.textContent = "Copy the address of this state from the address bar.";
      }
    }),
  );
  states.append(now.column);
  root.className = "live";
  root.append(element("aside", {}, panel.element), division("", tools, status, states), brief);
  const takeAddress = async () => {
    const states = statesOf(location.hash);
    panel.set(states.current);
    try {
      const same = JSON.stringify(states.kept) === JSON.stringify(kept?.settings ?? null);
      if (!same) keep(states.kept && (await answerTo(states.kept)));
    } catch (fault) {
      tell(fault);
    }
    update();
  };
  window.addEventListener("hashchange", takeAddress);
  explainTerms(panel.element);
  takeAddress();
}
