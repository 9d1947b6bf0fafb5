// Draws the charts from the record that the page carries: of a run, a comparison, a sweep, an answer
// in tables, or of a server that answers each move of a slider.
import { drawAnswer } from "./answer.js";
import { drawn } from "./chart.js";
import { drawComparison } from "./comparison.js";
import { estimateText, glossary, valueText } from "./figures.js";
import { explainTerms, markWords } from "./glossary.js";
import { drawLive } from "./live.js";
import { drawRun } from "./run.js";
import { preparePaper } from "./paper.js";
import { drawSweep } from "./sweep.js";
import { keepWhole, offerTables } from "./tables.js";

const record = JSON.parse(document.getElementById("record").textContent);
const charts = document.getElementById("charts");
markWords(document.querySelector("main"), glossary);
explainTerms(document);
keepWhole(document.querySelector("main"));
if (record.format.startsWith("windtunnel-comparison-")) {
  drawComparison(record, charts);
} else if (record.format.startsWith("windtunnel-sweep-")) {
  drawSweep(record, charts);
} else if (record.format.startsWith("windtunnel-answer-")) {
  drawAnswer(record);
} else if (record.format.startsWith("windtunnel-live-")) {
  drawLive(record, document.getElementById("live"));
} else if (!record.format.startsWith("windtunnel-company-")) { // whose page is drawn already
  drawRun(record, charts);
}
offerTables(document.querySelector("main"));
preparePaper();
window.windtunnel = { charts: drawn, estimateText, valueText }; // for scripts beside this one
document.body.dataset.ready = "1";
