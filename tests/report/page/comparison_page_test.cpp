#include "report/page/comparison_page.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "models/base/error.hpp"
#include "report/page/drawing.hpp"
#include "tests/report/browser.hpp"
#include "tests/report/sample_record.hpp"

namespace windtunnel {
namespace {

Record sample_point(const std::string& schedule, double slower) {
  Record record = sample_record({.campaign = false});
  record.job.schedule.name = schedule;
  record.iteration.time_s *= slower;
  record.iteration.tflops_per_gpu /= slower;
  return record;
}

struct Sample {
  Comparison comparison;
  std::vector<Json> drawings;
};

Sample sample_comparison() {
  Sample sample;
  for (const auto& [name, slower] :
       {std::pair{"gpipe", 1.5}, {"1f1b", 1.25}, {"zb-v", 1.0}, {"chimera", 1.125}, {"2bp", 2.0}}) {
    sample.comparison.points.push_back({{{"schedule", name}}, sample_point(name, slower), ""});
    sample.drawings.push_back(drawing_of(*sample.comparison.points.back().record));
  }
  sample.comparison.points.push_back(
      {{{"schedule", "dualpipe"}}, std::nullopt, "needs m >= 2p: <16> & more"});
  sample.drawings.push_back(nullptr);
  return sample;
}

Json sample_document() {
  const Sample sample = sample_comparison();
  std::vector<Overrides> sets;
  for (const ComparedPoint& point : sample.comparison.points) sets.push_back(point.set);
  return comparison_document(sample.comparison, sample.drawings, point_folders(sets));
}

TEST(ComparisonPage, IsReadableWithoutScripts) {
  const std::string html = comparison_page(sample_document());
  const std::string body = html.substr(0, html.find("<script"));
  for (const char* name : {"gpipe", "1f1b", "zb-v", "chimera", "2bp"}) {
    EXPECT_NE(body.find(fmt::format("<th scope=\"row\">{}</th>", name)), std::string::npos) << name;
  }
  EXPECT_NE(body.find("needs m &gt;= 2p: &lt;16&gt; &amp; more"), std::string::npos);
  // The fastest row is first, and its step time is emphasised.
  EXPECT_LT(body.find("\"row\">zb-v"), body.find("\"row\">chimera"));
  EXPECT_LT(body.find("\"row\">chimera"), body.find("\"row\">1f1b"));
  EXPECT_LT(body.find("\"row\">1f1b"), body.find("\"row\">gpipe"));
  const size_t best = body.find("class=\"best\"");
  EXPECT_GT(best, body.find("\"row\">zb-v"));
  EXPECT_LT(best, body.find("\"row\">chimera"));
}

TEST(ComparisonPage, WhatDoesNotFitIsNeverTheBest) {
  Sample sample = sample_comparison();
  sample.comparison.points[2].record->memory_excess = "pipeline rank 0 needs more";
  const std::string html =
      comparison_page(comparison_document(sample.comparison, sample.drawings, {}));
  EXPECT_LT(html.find("\"row\">chimera"), html.find("\"row\">zb-v"));
  EXPECT_NE(html.find("<dd>schedule = chimera<small>"), std::string::npos);
  EXPECT_NE(html.find("class=\"excess\" title=\"pipeline rank 0 needs more\""), std::string::npos);
}

// The points have the same step time and differ in protection.
Json protection_document() {
  Comparison comparison;
  for (const auto& [name, goodput] : {std::pair{"sync", 0.8}, {"reft", 0.9}, {"replicas", 0.85}}) {
    Record record = sample_record();
    record.campaign->goodput.mean = goodput;
    if (goodput != 0.9) record.campaign->tiers.erase(record.campaign->tiers.begin());
    if (goodput == 0.85) {
      TierReport& tier = record.campaign->tiers.front();
      tier = {};
      tier.name = "replicas";
    }
    comparison.points.push_back({{{"snapshots", name}}, std::move(record), ""});
  }
  return comparison_document(comparison, {nullptr, nullptr, nullptr}, {});
}

// Among 1, 2 and 4 the best value is 4, and 2 is worse than 4, so the best may lie beyond 4.
TEST(ComparisonPage, WarnsWhereTheBestLiesOnTheEdge) {
  const auto page_of = [](double slower_at_2) {
    Sample sample;
    sample.comparison.vary = {{"batch.micro", {"1", "2", "4"}}};
    for (const auto& [micro, slower] : {std::pair{"1", 2.0}, {"2", slower_at_2}, {"4", 1.0}}) {
      sample.comparison.points.push_back(
          {{{"batch.micro", micro}}, sample_point("1f1b", slower), ""});
      sample.drawings.emplace_back(nullptr);
    }
    return comparison_page(comparison_document(sample.comparison, sample.drawings, {}));
  };
  EXPECT_NE(
      page_of(1.5).find(
          "At the edge of the comparison: the best batch.micro, 4, is the largest that was tried"),
      std::string::npos);
  EXPECT_EQ(page_of(0.5).find("At the edge"), std::string::npos);
  EXPECT_EQ(page_of(1.0).find("At the edge"), std::string::npos) << "no influence there";
}

TEST(ComparisonPage, ProtectionRanksByGoodputAndShowsWhatItCosts) {
  const std::string html = comparison_page(protection_document());
  const std::string body = html.substr(0, html.find("<script"));
  EXPECT_NE(body.find("<dt>best of 3 that ran</dt><dd>snapshots = reft<small>"), std::string::npos);
  EXPECT_LT(body.find("\"row\">reft"), body.find("\"row\">replicas"));
  EXPECT_LT(body.find("\"row\">replicas"), body.find("\"row\">sync"));
  for (const char* title : {"copy", "saving time", "snapshot overhead", "survival 7 d"}) {
    EXPECT_NE(body.find(fmt::format("\">{}</th>", title)), std::string::npos) << title;
  }
  EXPECT_NE(body.find("<td data-value=\"0.99975\">99.975 %</td>"), std::string::npos);
  EXPECT_NE(body.find("<td data-value=\"Infinity\"></td>"), std::string::npos)
      << "replicas have no interval: behind all numbers, never the best";
  EXPECT_EQ(body.find(">stage bubble<"), std::string::npos) << "the same everywhere";
}

TEST(ComparisonPage, ChanceIsNotPaintedAsAWin) {
  Json document = protection_document();
  const auto best_cells = [&] {
    const std::string html = comparison_page(document);
    std::vector<std::string> cells;
    for (size_t at = 0; (at = html.find("class=\"best\">9", at)) != std::string::npos; ++at) {
      cells.push_back(html.substr(at + 13, 6));
    }
    return cells;
  };
  Json& points = document["points"];
  const auto trials = [&](size_t point, std::vector<double> goodput) {
    points[point]["trial_goodput"] = std::move(goodput);
  };
  trials(1, {0.88, 0.91, 0.90, 0.91});  // reft, the best
  trials(2, {0.87, 0.92, 0.91, 0.89});  // replicas, about as good
  trials(0, {0.80, 0.81, 0.80, 0.79});  // sync
  points[2]["texts"].back() = "90.1 %";
  EXPECT_EQ(best_cells(), (std::vector<std::string>{"90.0 %", "90.1 %"}));
  EXPECT_NE(comparison_page(document).find("<small>snapshots = replicas is as good</small>"),
            std::string::npos);
  trials(0, {0.88, 0.91, 0.91, 0.90});
  EXPECT_EQ(best_cells(), std::vector<std::string>{}) << "all are as good";
  trials(0, {0.80, 0.81, 0.80, 0.79});
  trials(2, {0.85, 0.88, 0.87, 0.88});
  EXPECT_EQ(best_cells(), std::vector<std::string>{"90.0 %"});
}

TEST(ComparisonPage, CardsAndRowsHaveIntervals) {
  const std::string html = comparison_page(protection_document());
  const std::string goodput = html.substr(html.find("goodput</span></dt>"), 120);
  EXPECT_NE(goodput.find("<dd>90.0 %<small>"), std::string::npos) << goodput;
  EXPECT_NE(html.find("90.0 %<small>", html.find("<tbody>")), std::string::npos);
  EXPECT_NE(html.find("<h2>How sure this is</h2>"), std::string::npos);
}

TEST(ComparisonPage, WhatPointsHaveInCommonIsItsSubtitle) {
  Sample sample = sample_comparison();
  sample.comparison.points[0].record->job.cluster.nodes = 7;
  sample.comparison.points[1].record->job.layout.sharding = Sharding::zero3;
  const Json document = comparison_document(sample.comparison, sample.drawings, {});
  EXPECT_EQ(document.at("subtitle"),
            "llama3-405b; tp 8 x pp 4 x dp 128; bf16; overlap none; no compressor; batch 2,048 x "
            "8,192 tokens");
  EXPECT_EQ(document.at("points")[0].at("facts")[1], "56 h100 GPUs (7 x dgx-h100)");
}

TEST(ComparisonPage, RoundTripGivesTheSamePage) {
  const Json document = sample_document();
  const Json again = parse_json(json_text(document, -1), "record.json");
  EXPECT_TRUE(is_comparison_document(again));
  EXPECT_NO_THROW(check_comparison_document(again, "record.json"));
  EXPECT_EQ(comparison_page(document), comparison_page(again));
}

TEST(ComparisonPage, RefusesADamagedRecord) {
  for (const char* part : {"columns", "points", "infeasible", "title"}) {
    Json document = sample_document();
    document.erase(part);
    EXPECT_THROW(check_comparison_document(document, "out/record.json"), Error) << part;
  }
  Json document = sample_document();
  document["points"][0]["drawing"].erase("rows");
  EXPECT_THROW(check_comparison_document(document, "out/record.json"), Error);
  document = sample_document();
  document["format"] = "windtunnel-comparison-99";
  EXPECT_TRUE(is_comparison_document(document));
  EXPECT_THROW(check_comparison_document(document, "out/record.json"), Error);
}

TEST(PointFolders, AreUniqueAndPlain) {
  const auto folders = point_folders({{{"schedule", "1f1b"}},
                                      {{"schedule", "{name: zb-auto, memory_limit: 4 GB}"}},
                                      {{"schedule", "a/b"}},
                                      {{"schedule", "a:b"}},
                                      {{"schedule", "../up"}},
                                      {{"layout.pp", "2"}, {"schedule", "1f1b"}}});
  EXPECT_EQ(folders, (std::vector<std::string>{"1f1b", "name--zb-auto--memory_limit--4-GB-", "a-b",
                                               "a-b-2", "up", "layout.pp=2-schedule=1f1b"}));
}

class ComparisonBrowser : public Browser {};

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_F(ComparisonBrowser, NamesEveryPointAndDrawsThreeAtFirst) {
  const std::string output = ready_dom(comparison_page(sample_document()));
  EXPECT_NE(output.find("<canvas"), std::string::npos);
  for (const char* name : {"gpipe", "1f1b", "zb-v", "chimera", "2bp"}) {
    EXPECT_NE(output.find(fmt::format(">{}</button>", name)), std::string::npos) << name;
  }
  EXPECT_EQ(count_of(output, "class=\"pane\""), 3u);
  for (const char* name : {"gpipe", "zb-v", "chimera"}) {
    EXPECT_NE(output.find(fmt::format("<b>schedule = {}</b>", name)), std::string::npos) << name;
    EXPECT_NE(output.find(fmt::format("href=\"{}/trace.json\"", name)), std::string::npos) << name;
  }
  EXPECT_NE(output.find("needs m &gt;= 2p"), std::string::npos);
}

// Counts the chart's pixels of two colours of colours.js and sorts the table by its second column.
constexpr const char* kProbe = R"(
  const canvas = document.querySelector(".pane").closest(".chart").querySelector("canvas");
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const count = (r, g, b) => {
    let n = 0;
    for (let i = 0; i < pixels.length; i += 4) {
      n += pixels[i] === r && pixels[i + 1] === g && pixels[i + 2] === b;
    }
    return n;
  };
  const drawn = count(0x6b, 0x9b, 0xd1) > 5000 && count(0x5f, 0xb3, 0xaa) > 5000;
  document.body.dataset.drawn = drawn ? "yes" : "no";
  const title = document.querySelectorAll("#points thead th")[1];
  title.click();
  title.click();
  document.body.dataset.slowest = document.querySelector("#points tbody th").textContent;
  for (const button of document.querySelectorAll(".chooser button")) button.click();
  const names = [...document.querySelectorAll(".pane b")].map((name) => name.textContent);
  document.body.dataset.others = names.join(" ");
  document.body.dataset.steered = canvas.closest("[role=img]").tabIndex;
  const first = document.querySelector("main > .figures").nextElementSibling;
  document.body.dataset.first = first.querySelector("figcaption")?.firstChild.textContent;
)";

TEST_F(ComparisonBrowser, DrawsBarsSortsAndChangesWhatIsDrawn) {
  const std::string output = ready_dom(comparison_page(sample_document()), kProbe);
  EXPECT_NE(output.find("data-drawn=\"yes\""), std::string::npos);
  EXPECT_NE(output.find("data-slowest=\"2bp\""), std::string::npos);
  EXPECT_NE(output.find("data-steered=\"0\""), std::string::npos) << "keys move it";
  EXPECT_NE(output.find("data-first=\"step time of each point\""), std::string::npos);
  EXPECT_NE(output.find("data-others=\"schedule = 1f1b schedule = 2bp\""), std::string::npos);
}

// Two schedules are compared over three bandwidths: the second one is faster on slow networks only.
Json bandwidth_document() {
  Comparison comparison;
  comparison.vary = {{"schedule", {"1f1b", "zb-v"}},
                     {"cluster.node.nic", {"1 Gb/s", "100 Gb/s", "25 Gb/s"}}};
  const std::map<std::string, double> times = {{"1 Gb/s", 10}, {"25 Gb/s", 2}, {"100 Gb/s", 1}};
  for (const std::string schedule : {"1f1b", "zb-v"}) {
    for (const auto& [bandwidth, slower] : times) {
      const double gain = schedule == "1f1b" ? 1 : bandwidth == "1 Gb/s" ? 0.25 : 1.25;
      comparison.points.push_back({{{"schedule", schedule}, {"cluster.node.nic", bandwidth}},
                                   sample_point(schedule, slower * gain),
                                   ""});
    }
  }
  return comparison_document(comparison, std::vector<Json>(comparison.points.size()), {});
}

TEST(ComparisonPage, KnowsTheNumbersOfVariedKeys) {
  const Json vary = bandwidth_document()["vary"];
  EXPECT_EQ(vary[0]["numbers"], nullptr);
  EXPECT_EQ(vary[1]["key"], "cluster.node.nic");
  EXPECT_EQ(vary[1]["numbers"], (Json::array({1.25e8, 1.25e10, 3.125e9})));
}

TEST_F(ComparisonBrowser, DrawsCurvesOverABandwidth) {
  constexpr const char* kCurves = R"(
    const has = (pixels, r, g, b) => {
      let n = 0;
      for (let i = 0; i < pixels.length; i += 4) {
        n += pixels[i] === r && pixels[i + 1] === g && pixels[i + 2] === b;
      }
      return n > 20;
    };
    const both = (canvas) => {
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
      return has(data, 0x4e, 0x79, 0xa7) && has(data, 0xf2, 0x8e, 0x2b);
    };
    const charts = [...document.querySelectorAll("canvas")];
    document.body.dataset.charts = charts.length;
    document.body.dataset.both = charts.every(both);
    document.querySelectorAll(".chooser button")[1].click();
    document.body.dataset.left = charts.some(both);
  )";
  const std::string output = ready_dom(comparison_page(bandwidth_document()), kCurves);
  EXPECT_NE(output.find("times as fast as 1f1b over cluster.node.nic"), std::string::npos);
  EXPECT_NE(output.find("step time over cluster.node.nic"), std::string::npos);
  for (const char* fact : {"data-charts=\"2\"", "data-both=\"true\"", "data-left=\"false\""}) {
    EXPECT_NE(output.find(fact), std::string::npos) << fact;
  }
}

TEST_F(ComparisonBrowser, DrawsLostTimeOfCampaigns) {
  const std::string output = ready_dom(comparison_page(protection_document()));
  EXPECT_NE(output.find("<canvas"), std::string::npos);
  EXPECT_NE(output.find("Where the wall time goes"), std::string::npos);
}

TEST_F(ComparisonBrowser, TheScreenshotIsNotBlank) {
  const Screenshot empty = screenshot("<!DOCTYPE html><body></body>", 1280, 1400);
  const Screenshot page = screenshot(comparison_page(sample_document()), 1280, 1400);
  EXPECT_EQ(page.width, 1280);
  EXPECT_EQ(page.height, 1400);
  EXPECT_GT(page.bytes, 5 * empty.bytes);
}

TEST_F(ComparisonBrowser, DrawsAComparisonInWhichNothingRan) {
  Comparison comparison;
  comparison.points.push_back({{{"schedule", "dualpipe"}}, std::nullopt, "no"});
  const std::string output =
      ready_dom(comparison_page(comparison_document(comparison, {nullptr}, {})));
}

TEST(ComparisonDocument, IsMadeFromWhatAnyOfItsPointsIs) {
  Comparison comparison = sample_comparison().comparison;
  for (ComparedPoint& point : comparison.points) {
    if (!point.record) continue;
    const std::string& name = point.set.front().second;
    point.record->source.files = {{.name = name == "gpipe" ? "a.csv" : "b.csv"}};
    point.record->source.allow_oom = name == "1f1b";
  }
  const std::vector<Json> drawings(comparison.points.size());
  const std::vector<std::string> folders(comparison.points.size());
  const Json source = comparison_document(comparison, drawings, folders).at("source");
  ASSERT_EQ(source.at("files").size(), 2U);
  EXPECT_EQ(source.at("files")[1].at("name"), "b.csv");
  EXPECT_EQ(source.at("allow_oom"), true);
}

TEST_F(ComparisonBrowser, TasksAreFoundInAllDrawnPoints) {
  const std::string output = ready_dom(comparison_page(sample_document()), R"(
    const record = JSON.parse(document.getElementById("record").textContent);
    const input = document.querySelector(".search input");
    const said = () => document.querySelector(".search output").textContent;
    const drawn = () => [...document.querySelectorAll(".chooser button")].flatMap((button, i) =>
      button.getAttribute("aria-pressed") === "true" ? [record.points[i].drawing] : []);
    const expected = () => drawn().flatMap(({ rows }) => rows.flatMap(({ name }) =>
      name.split(";"))).filter((name) => name.toLowerCase().includes("f0")).length;
    input.value = "F0";
    input.dispatchEvent(new Event("input"));
    const before = expected();
    document.body.dataset.found = before > 1 && said().startsWith(`${before} tasks, `);
    document.querySelector(".chooser button[aria-pressed=true]").click();
    document.body.dataset.fewer = expected() < before && said().startsWith(`${expected()} tasks, `);
    input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
    document.body.dataset.next = said().startsWith(`1 of ${expected()}: `);
  )");
  for (const char* fact : {"data-found=\"true\"", "data-fewer=\"true\"", "data-next=\"true\""}) {
    EXPECT_NE(output.find(fact), std::string::npos) << fact;
  }
}

TEST_F(ComparisonBrowser, FitsEveryScreen) {
  expect_fits(comparison_page(sample_document()));
}

TEST_F(ComparisonBrowser, TwoKeysFitEveryScreen) {
  expect_fits(comparison_page(bandwidth_document()));
}

}  // namespace
}  // namespace windtunnel
