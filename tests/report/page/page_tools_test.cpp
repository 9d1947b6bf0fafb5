// Tests what a reader can do with a page: see explanations of terms, search tasks by name, zoom
// into a time range, download figures, and read it on a narrow screen.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "report/page/html.hpp"
#include "report/page/page.hpp"
#include "tests/report/browser.hpp"
#include "tests/report/sample_record.hpp"

namespace windtunnel {
namespace {

std::string sample_page() {
  Record record = sample_record();
  record.critical_path = critical_path(record.plan, record.timeline);
  return html_page(page_document(record));
}

void expect_facts(const std::string& output, const std::vector<std::string>& facts) {
  const size_t body = output.find("<body");
  for (const std::string& fact : facts) {
    EXPECT_NE(output.find(fact), std::string::npos)
        << fact << "\n"
        << output.substr(body, output.find('>', body) - body);
  }
}

TEST(PageTerms, SayWhatAFigureIsWhereItsTitleIsItsOwn) {
  EXPECT_NE(term_html("MFU").find("class=\"term\" tabindex=\"0\" title=\""), std::string::npos);
  EXPECT_EQ(term_html("idle"), "idle") << "of the step, or of what fills it";
  EXPECT_NE(term_html("forward", "iteration.critical_path_s").find("forward passes"),
            std::string::npos);
  EXPECT_EQ(term_html("measured"), "measured") << "of what it rests on, there alone";
  EXPECT_NE(term_html("measured", "origin").find("title="), std::string::npos);
  // The pages take their explanations from docs/reference/glossary.md.
  for (const char* word : {"peers", "keeper", "shrink", "lazy", "closed form", "in time", "tp"}) {
    EXPECT_NE(term_html(word).find("title="), std::string::npos) << word;
  }
  EXPECT_EQ(term_html("no <figure>"), "no &lt;figure&gt;");
}

TEST(PageDocument, SaysWhichTasksAreCritical) {
  Record record = sample_record();
  record.critical_path = critical_path(record.plan, record.timeline);
  const Json document = page_document(record);
  size_t critical = 0;
  for (const Json& track : document.at("gantt").at("tracks")) {
    for (const Json& index : track.at("critical")) {
      EXPECT_LT(index.get<size_t>(), track.at("name").size());
      ++critical;
    }
  }
  EXPECT_GT(critical, 0U);
  EXPECT_LE(critical, record.critical_path.size());
}

class PageTools : public Browser {
 protected:
  // Returns the failures of expect_fits(), one text for each.
  std::vector<std::string> faults_of(const std::string& page) {
    testing::TestPartResultArray found;
    {
      const testing::ScopedFakeTestPartResultReporter reporter(
          testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &found);
      expect_fits(page);
    }
    std::vector<std::string> faults;
    for (int i = 0; i < found.size(); ++i) faults.push_back(found.GetTestPartResult(i).message());
    return faults;
  }
};

TEST_F(PageTools, TermsAreExplainedOnFocus) {
  expect_facts(
      ready_dom(sample_page(), R"(
    const term = document.querySelector(".term");
    term.focus();
    const tip = document.getElementById("help");
    document.body.dataset.said = tip.textContent.length > 10 && tip.style.display === "block";
    document.body.dataset.described = term.getAttribute("aria-describedby") === tip.id;
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
    document.body.dataset.hidden = tip.style.display === "none";
    document.body.dataset.many = document.querySelectorAll(".term").length > 8;
    const marked = [...document.querySelectorAll("header p .term, td .term")];
    const names = marked.map((each) => each.textContent);
    document.body.dataset.words = names.includes("overlap") && names.includes("compressor");
    document.body.dataset.once = new Set(names).size === names.length;
    document.body.dataset.told = marked.every((each) => each.dataset.help.length > 20);
  )"),
      {"data-said=\"true\"", "data-described=\"true\"", "data-hidden=\"true\"",
       "data-many=\"true\"", "data-words=\"true\"", "data-once=\"true\"", "data-told=\"true\""});
}

TEST_F(PageTools, TasksAreFoundAndTimeInARangeIsSummed) {
  expect_facts(ready_dom(sample_page(), R"(
    const body = document.body.dataset;
    const record = JSON.parse(document.getElementById("record").textContent);
    const names = record.gantt.tracks.flatMap(({ name }) => name);
    const input = document.querySelector(".search input");
    input.value = names[0].slice(0, 3);
    input.dispatchEvent(new Event("input"));
    const sought = input.value.toLowerCase();
    const found = names.filter((name) => name.toLowerCase().includes(sought)).length;
    const said = () => document.querySelector(".search output").textContent;
    body.found = said().startsWith(`${found} tasks, `);
    input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
    body.next = said().startsWith(`1 of ${found}: `);

    const tools = [...document.querySelectorAll(".tools > button")];
    body.tools = tools.map((button) => button.textContent).join(", ");
    for (const button of tools) button.click();
    const range = document.querySelector(".range");
    body.shown = !range.hidden;
    const [from, to] = range.querySelectorAll("input");
    const end_ms = record.gantt.makespan_s * 1e3;
    from.value = "0";
    to.value = String(end_ms / 2);
    to.dispatchEvent(new Event("change"));
    const seconds = (track, i) =>
      Math.max(0, Math.min(track.duration_ns[i], end_ms * 5e5 - track.start_ns[i])) / 1e9;
    const sums = {};
    for (const track of record.gantt.tracks) {
      track.name.forEach((_, i) => {
        const kind = record.gantt.categories[track.category[i]];
        sums[kind] = (sums[kind] ?? 0) + seconds(track, i);
      });
    }
    const rows = [...range.querySelector("table").tBodies[0].rows];
    const streams = [...range.querySelectorAll("table")[1].tBodies[0].rows];
    body.streams = streams.map(({ cells }) => cells[0].textContent).includes("compute");
    const expected = (kind) => window.windtunnel.valueText("seconds", sums[kind]);
    body.sums = rows.length > 1 && rows.every(
      ({ cells }) => cells[1].textContent === expected(cells[0].textContent));
  )"),
               {"data-found=\"true\"", "data-next=\"true\"",
                "data-tools=\"all streams, critical path, sum a range\"", "data-shown=\"true\"",
                "data-sums=\"true\"", "data-streams=\"true\""});
}

TEST_F(PageTools, EveryChartSaysWhatItShowsAndIsOfferedToTakeAway) {
  expect_facts(
      ready_dom(sample_page(), R"(
    const body = document.body.dataset;
    const figures = [...document.querySelectorAll("figure")];
    body.figures = figures.length >= 5;
    const answer = document.querySelector("main > .figures");
    const section = document.querySelector("section");
    body.first = answer.nextElementSibling.contains(figures[0]) &&
      Boolean(figures.at(-1).compareDocumentPosition(section) & Node.DOCUMENT_POSITION_FOLLOWING);
    body.words = figures.every((figure) => {
      const chart = figure.querySelector("[role=img]");
      return chart && chart.getAttribute("aria-label").length > 30;
    });
    const saved = [];
    HTMLAnchorElement.prototype.click = function () { saved.push([this.download, this.href]); };
    for (const button of document.querySelectorAll(".offers button")) button.click();
    const tables = document.querySelectorAll("main .scroll > table").length;
    body.pairs = tables > 1 && saved.length === 2 * figures.length + tables;
    const lines = (href) => decodeURIComponent(href.split(",")[1] ?? "").trim().split("\n");
    const of = (kind) => saved.filter(([name]) => name.endsWith(kind)).map(([, href]) => href);
    body.csv = of(".csv").every((href) => lines(href).length > 1);
    body.png = of(".png").every((href) => href.startsWith("data:image/png"));
    const record = JSON.parse(document.getElementById("record").textContent);
    const tasks = record.gantt.tracks.reduce((sum, { name }) => sum + name.length, 0);
    const gantt = saved.find(([name]) => name.endsWith("one-iteration.csv"));
    body.tasks = lines(gantt[1]).length === tasks + 1;
  )"),
      {"data-figures=\"true\"", "data-first=\"true\"", "data-words=\"true\"", "data-pairs=\"true\"",
       "data-csv=\"true\"", "data-png=\"true\"", "data-tasks=\"true\""});
}

TEST_F(PageTools, CurvesAndStreamsAreNamed) {
  expect_facts(ready_dom(sample_page(), R"(
    const curves = [...document.querySelectorAll("figure")].find(
      (figure) => figure.textContent.includes("Memory over time"));
    const record = JSON.parse(document.getElementById("record").textContent);
    const named = [...curves.querySelectorAll(".legend button")].map((each) => each.textContent);
    const ranks = record.memory.curves.ranks.map(({ rank }) => rank);
    document.body.dataset.legend = named.join() === ranks.join();
    const head = document.querySelector(".head");
    document.body.dataset.sticky = getComputedStyle(head).position;
    document.body.dataset.axis = head.querySelectorAll("canvas").length;
  )"),
               {"data-legend=\"true\"", "data-sticky=\"sticky\"", "data-axis=\"1\""});
}

TEST_F(PageTools, FitsEveryScreen) {
  expect_fits(sample_page());
}

// The page gets a paragraph that is too wide and too pale, a button that no key reaches, and a
// chart with one text over another.
TEST_F(PageTools, WhatDoesNotFitIsFound) {
  std::string page = sample_page();
  page.insert(page.find("<header>"),
              "<p style=\"width: 500px\">wide</p><p style=\"color: #888\">pale</p>"
              "<button tabindex=\"-1\">lost</button>");
  page.insert(page.rfind("</body>"), R"(<script>
    const zrender = [...window.windtunnel.charts][0].getZr();
    const text = zrender.storage.getDisplayList(true).find(({ type }) => type === "tspan").parent;
    const { x, y, style } = text;
    zrender.add(new text.constructor({ x, y, style: { ...style, text: style.text } }));
  </script>)");
  const std::vector<std::string> found = faults_of(page);
  const std::string all = fmt::format("{}", fmt::join(found, "\n"));
  EXPECT_EQ(found.size(), 7U) << "a failure for each frame\n" << all;
  for (const char* fault :
       {"beyond: P. wide", "of contrast: P. pale", "not reached: BUTTON. lost",
        "over each other in 'Where the step time goes", "on paper: BUTTON. lost"}) {
    EXPECT_NE(all.find(fault), std::string::npos) << fault << "\n" << all;
  }
}

}  // namespace
}  // namespace windtunnel
