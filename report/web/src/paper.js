// What is printed: charts drawn anew, dark on white and as wide as a sheet, and tables shrunk to it. The
// style sheet's class `on-paper` has the colours and the width.
import { drawn } from "./chart.js";

const PIXEL_RATIO = 2; // of pictures, so that their letters are sharp
const LEAST_ZOOM = 0.45; // of tables, which below it are read by nobody

// A picture instead of the chart, whose own canvas follows the screen.
function picture(chart) {
  chart.redraw();
  chart.resize();
  chart.fit?.();
  const canvas = chart.renderToCanvas({ pixelRatio: PIXEL_RATIO, backgroundColor: "#fff" });
  canvas.className = "picture";
  chart.getDom().append(canvas);
  chart.getDom().classList.add("pictured");
}

function toPaper() {
  document.documentElement.classList.add("on-paper");
  drawn.forEach(picture);
  for (const table of document.querySelectorAll(".scroll > table")) {
    const room = table.parentElement.clientWidth / table.scrollWidth;
    if (room < 1) table.style.zoom = Math.max(LEAST_ZOOM, room);
  }
}

function toScreen() {
  document.documentElement.classList.remove("on-paper");
  for (const table of document.querySelectorAll(".scroll > table")) table.style.zoom = "";
  for (const canvas of document.querySelectorAll("canvas.picture")) canvas.remove();
  for (const chart of drawn) {
    chart.redraw();
    chart.resize();
    chart.fit?.();
  }
}

export function preparePaper() {
  window.addEventListener("beforeprint", toPaper);
  window.addEventListener("afterprint", toScreen);
}
