#include "report/page/page.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "models/base/error.hpp"
#include "report/figures/figures.hpp"
#include "report/summary/summary.hpp"
#include "tests/report/browser.hpp"
#include "tests/report/sample_record.hpp"
#include "tests/support/error_of.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

TEST(PageDocument, SampleRecordHoldsAValidPlan) {
  EXPECT_NO_THROW(validate_plan(sample_record().plan));
}

TEST(PageDocument, RoundTripGivesTheSamePage) {
  const Json document = page_document(sample_record());
  const Json again = parse_page_document(json_text(document), "record.json");
  EXPECT_EQ(html_page(document), html_page(again));
}

TEST(PageDocument, HoldsEveryTaskOfEachClassOnce) {
  const Record record = sample_record();
  size_t spans = 0;
  const Json document = page_document(record);
  for (const Json& track : document["gantt"]["tracks"]) {
    spans += track["start_ns"].size();
    EXPECT_EQ(track["start_ns"].size(), track["duration_ns"].size());
    EXPECT_EQ(track["start_ns"].size(), track["category"].size());
    EXPECT_EQ(track["start_ns"].size(), track["name"].size());
  }
  size_t tasks = 0;
  for (const RankClass& rank_class : record.plan.classes) tasks += rank_class.tasks.size();
  EXPECT_EQ(spans, tasks);
  EXPECT_EQ(document["gantt"]["ranks_left_out"], 0);
}

TEST(PageDocument, LeavesOutRanksBeyondTheLimitAndSaysSo) {
  const Json document = page_document(sample_record(), {.max_spans = 70});
  EXPECT_EQ(document["gantt"]["ranks_left_out"], 3);
  EXPECT_EQ(document["gantt"]["tracks"].back()["rank"], "pp 0");
}

void expect_error(const std::string& text, const std::string& message) {
  const std::string error = error_of([&] { parse_page_document(text, "out/record.json"); });
  EXPECT_NE(error.find(message), std::string::npos) << error;
  EXPECT_TRUE(error.starts_with("out/record.json: ")) << error;
}

TEST(PageDocument, RefusesWhatIsNoRecord) {
  expect_error("", "not a JSON object");
  expect_error("{\"format\": ", "not a JSON object");
  expect_error("[]", "not a JSON object");
  expect_error("{}", "not a record of this version");
  expect_error(R"({"format": "windtunnel-record-99"})", "not a record of this version");
  expect_error(R"({"format": "windtunnel-record-1"})", "damaged record");
  Json document = page_document(sample_record());
  document["summary"]["title"] = 5;
  expect_error(json_text(document), "damaged record");
  document = page_document(sample_record());
  document.erase("gantt");
  expect_error(json_text(document), "damaged record");
}

TEST(PageDocument, RefusesWhatCannotBeDrawn) {
  const auto refuses = [](auto damage) {
    Json document = page_document(sample_record());
    damage(document);
    expect_error(json_text(document), "damaged record: ");
  };
  refuses([](Json& document) { document["values"][1] = Json::object(); });
  refuses([](Json& document) { document["values"][1]["key"] = 5; });
  refuses([](Json& document) { document["values"] = Json::array({Json::object()}); });
  refuses([](Json& document) {
    document["summary"]["sections"][0]["table"] =
        Json{{"columns", Json::array()}, {"rows", Json::array({Json::array()})}};
  });
  refuses([](Json& document) { document["gantt"] = 5; });
  refuses([](Json& document) { document["memory"] = 3; });
  refuses([](Json& document) { document["gantt"]["tracks"][0]["name"].erase(0); });
  refuses([](Json& document) { document["gantt"]["tracks"][0]["category"][0] = 99; });
  refuses([](Json& document) { document["gantt"]["tracks"][0]["critical"] = Json::array({9999}); });
  refuses([](Json& document) { document["gantt"]["tracks"][0]["critical"] = 5; });
  refuses([](Json& document) {
    for (Json& section : document["summary"]["sections"]) {
      if (section.contains("table")) section["table"]["rows"][0].push_back("one too many");
    }
  });
}

TEST(HtmlPage, EveryMeaningHasAColour) {
  const std::string colours = read_file(WINDTUNNEL_SOURCE_DIR "/report/web/src/colours.js");
  const auto expect_colours = [&](const char* table, int names, auto name_of) {
    const size_t begin = colours.find(fmt::format("const {} = {{", table));
    ASSERT_NE(begin, std::string::npos) << table;
    const std::string rows = colours.substr(begin, colours.find("};", begin) - begin);
    for (int i = 0; i < names; ++i) {
      EXPECT_NE(rows.find(fmt::format("  {}: \"#", name_of(i))), std::string::npos) << name_of(i);
    }
  };
  expect_colours("CATEGORY", kCategories,
                 [](int i) { return to_string(static_cast<Category>(i)); });
  const auto memory = memory_parts({});
  expect_colours("MEMORY", static_cast<int>(memory.size()), [&](int i) { return memory[i].first; });
  expect_colours("LOSS", kLosses, [](int i) { return to_string(static_cast<Loss>(i)); });
  expect_colours("ORIGIN", kOrigins, [](int i) { return to_string(static_cast<Origin>(i)); });
}

TEST(HtmlPage, EscapesHostileNames) {
  Record record = sample_record();
  record.scenario = "</script><script>alert(1)</script>{{data}}";
  record.plan.classes[0].tasks[0].name = "<!--<script>";
  const std::string html = html_page(page_document(record));
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_EQ(html.find("<!--<script>"), std::string::npos);
  EXPECT_NE(html.find("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;{{data}}"),
            std::string::npos);
}

TEST(HtmlPage, IsUsefulWithoutScripts) {
  const std::string html = html_page(page_document(sample_record()));
  EXPECT_NE(html.find(">goodput</span></dt><dd>93.0 %<small>"), std::string::npos);
  EXPECT_NE(html.find("<th scope=\"row\">utilisation</th><td>MFU 41.7 %, HFU 43.0 %</td>"),
            std::string::npos);
}

TEST(HtmlPage, TablesOfTiersAndIntervals) {
  const std::string html = html_page(page_document(sample_record()));
  EXPECT_NE(html.find("<h2>Snapshots by tier</h2>"), std::string::npos);
  EXPECT_NE(html.find(">peers</span></th><td>60.0 s</td><td>12.5 s</td>"), std::string::npos);
  EXPECT_NE(html.find("<tr><th scope=\"row\">configured</th><td>60.0 min</td>"), std::string::npos);
}

TEST(HtmlPage, SaysHowTheJobTrainsAndOnWhichValues) {
  Record record = sample_record();
  record.job.communication.compressors.dp = {.name = "powersgd", .rank = 4};
  record.job.communication.overlap = GradientOverlap::bucketed;
  const std::string html = html_page(page_document(record));
  EXPECT_NE(html.find("ZeRO-1; gpipe; bf16; overlap bucketed; compressor powersgd, rank 4; batch"),
            std::string::npos);
  EXPECT_NE(html.find("<summary>All 2 values of the job, with their origin</summary>"),
            std::string::npos);
  EXPECT_NE(html.find("<th scope=\"row\">fold</th><td class=\"left\">auto</td>"
                      "<td class=\"left\">default</td><td class=\"left\">assumed</td>"),
            std::string::npos);
}

TEST(PageDocument, SaysWhatItWasMadeFrom) {
  const Record record = sample_record();
  const MadeRecord made = made_record(page_document(record), "record.json");
  EXPECT_EQ(made.key, record.key);
  EXPECT_EQ(made.source.text, record.source.text);
  EXPECT_EQ(made.source.set, record.source.set);
  EXPECT_EQ(made.source.files, record.source.files);
  EXPECT_TRUE(made.source.allow_oom);
  Json document = page_document(record);
  document.erase("source");
  EXPECT_THROW(made_record(document, "record.json"), Error);
}

TEST(HtmlPage, LoadsNothingFromOutside) {
  const std::string html = html_page(page_document(sample_record()));
  EXPECT_NE(html.find("content=\"default-src 'none'; script-src 'unsafe-inline'; "
                      "style-src 'unsafe-inline'; img-src data:; connect-src 'none'\""),
            std::string::npos);
  for (const char* outside : {"<link", " src=\"http", "@import", "<iframe"}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
}

TEST(PageDocument, HoldsMemoryOverTime) {
  Record record = sample_record();
  Task& task = record.plan.classes[1].tasks[0];
  task.allocate_bytes = 2e9;
  record.activation_peaks = activation_peaks(record.plan, record.timeline);
  const Json document = page_document(record, {.max_curves = 2});
  const Json& ranks = document["memory"]["curves"]["ranks"];
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_TRUE(ranks[0]["peak"].is_null());
  EXPECT_EQ(ranks[1]["peak"]["task"], task.name);
  EXPECT_EQ(ranks[1]["peak"]["bytes"], 2e9);
  EXPECT_EQ(document["result"]["iteration"]["memory_bytes"]["activation_peaks"][0]["task"],
            task.name);
}

class PageBrowser : public Browser {};

TEST_F(PageBrowser, DrawsWithoutConsoleErrors) {
  const std::string output = ready_dom(html_page(page_document(sample_record())));
  EXPECT_NE(output.find("<canvas"), std::string::npos);
}

// The page's script formats values as the program does, by the table in the page.
TEST_F(PageBrowser, WritesValuesAsTheProgramDoes) {
  const std::vector<std::pair<Unit, double>> values = {
      {Unit::seconds, 0},      {Unit::seconds, 3.2e-9}, {Unit::seconds, 4.5e-5},
      {Unit::seconds, 0.9996}, {Unit::seconds, 90},     {Unit::seconds, 119.9},
      {Unit::seconds, 121},    {Unit::seconds, 7300},   {Unit::seconds, 4.6e6},
      {Unit::days, 90.06},     {Unit::share, 0.4123},   {Unit::small_share, 0.000449},
      {Unit::points, 0.00123}, {Unit::bytes, 999.7e6},  {Unit::bytes, 12},
      {Unit::memory, 84.9e9},  {Unit::memory, 7e7},     {Unit::memory, 12},
      {Unit::tflops, 373.66},  {Unit::count, 99999.5},  {Unit::count, 2.334e6},
      {Unit::usd, 7.53e7},     {Unit::usd, 1234.56}};
  std::string expected, cells;
  for (const auto& [unit, value] : values) {
    expected += fmt::format("{}|", value_text(unit, value));
    cells += fmt::format("[\"{}\", {}],", unit_form(unit).name, value);
  }
  expected += estimate_text(Unit::share, {.mean = 0.859, .low = 0.857, .high = 0.861});
  const std::string output = dump_dom(
      html_page(page_document(sample_record())),
      fmt::format("const write = window.windtunnel;"
                  "const texts = [{}].map(([unit, value]) => write.valueText(unit, value));"
                  "texts.push(write.estimateText(\"share\","
                  "{{mean: 0.859, low: 0.857, high: 0.861}}));"
                  "document.body.dataset.texts = texts.join(\"|\");",
                  cells));
  EXPECT_NE(output.find("data-texts=\"" + expected + "\""), std::string::npos)
      << expected << "\n"
      << output.substr(output.find("data-texts"), 500);
}

// Looks for the simulated curve, the formula and the mark of the configured interval, in the
// colours of interval.js.
constexpr const char* kIntervalProbe = R"(
  const figures = [...document.querySelectorAll("figure")];
  const figure = figures.find((f) => f.textContent.includes("Goodput over the interval"));
  document.body.dataset.interval = figure ? "yes" : "no";
  const canvas = figure?.querySelector("canvas");
  const area = canvas && [0, 0, canvas.width, canvas.height];
  const pixels = canvas?.getContext("2d").getImageData(...area).data ?? [];
  const count = (r, g, b) => {
    let n = 0;
    for (let i = 0; i < pixels.length; i += 4) {
      n += pixels[i] === r && pixels[i + 1] === g && pixels[i + 2] === b;
    }
    return n;
  };
  const drawn = count(0x4e, 0x79, 0xa7) > 300 && count(0xe1, 0x57, 0x59) > 100;
  document.body.dataset.drawn = drawn ? "yes" : "no";
)";

TEST_F(PageBrowser, DrawsGoodputOverTheIntervalWhereItIsKnown) {
  Record record = sample_record();
  std::string output = ready_dom(html_page(page_document(record)), kIntervalProbe);
  EXPECT_NE(output.find("data-interval=\"yes\""), std::string::npos);
  EXPECT_NE(output.find("data-drawn=\"yes\""), std::string::npos);
  record.campaign->interval.reset();
  output = dump_dom(html_page(page_document(record)), kIntervalProbe);
  EXPECT_NE(output.find("data-interval=\"no\""), std::string::npos);
}

// With many ranks each rank first has one row; searching for a task on another stream shows all
// streams.
TEST_F(PageBrowser, DrawsAGanttChartOfThousandsOfTasks) {
  const std::string output =
      ready_dom(html_page(page_document(sample_record({.pp = 16, .microbatches = 300}))), R"(
    const figure = document.querySelector(".search").closest("figure");
    const chart = figure.querySelector("[role=img]");
    const rows = () => Math.round((chart.clientHeight - 28) / 15);
    const button = [...figure.querySelectorAll(".tools > button")].find(
      (each) => each.textContent === "all streams");
    const pressed = () => button.getAttribute("aria-pressed");
    const before = `${rows()} ${pressed()}`;
    const { tracks } = JSON.parse(document.getElementById("record").textContent).gantt;
    const other = tracks.find((track, i) => i > 0 && tracks[i - 1].rank === track.rank);
    const input = figure.querySelector(".search input");
    input.value = other.name[0];
    input.dispatchEvent(new Event("input"));
    const after = rows() === tracks.length && pressed();
    button.click();
    document.body.dataset.rows = `${before}, ${after}, ${rows()} ${pressed()}`;
  )");
  EXPECT_NE(output.find("data-rows=\"16 false, true, 16 false\""), std::string::npos)
      << output.substr(output.find("data-rows"), 200);
}

TEST_F(PageBrowser, DrawsARecordWithoutCampaignOrTimeline) {
  Record record = sample_record({.campaign = false});
  record.plan = {};
  record.timeline = {};
  const std::string output = ready_dom(html_page(page_document(record)));
}

}  // namespace
}  // namespace windtunnel
