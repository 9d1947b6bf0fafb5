#include "report/page/sweep_page.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "tests/report/browser.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

Json around(double mean, double half_width) {
  return {{"mean", mean},
          {"low", mean - half_width},
          {"high", mean + half_width},
          {"p05", mean - 3 * half_width},
          {"p95", mean + 3 * half_width}};
}

// Goodput falls with the distance from the middle of the grid.
Json sample_result(double far) {
  const double goodput = 0.95 - 0.2 * far;
  return {{"goodput", around(goodput, 0.005)},
          {"ettr", around(goodput + 0.01, 0.005)},
          {"wall_s", around(4e6, 0)},
          {"lost",
           {{"stall", around(0.3 * (1 - goodput), 2.5e-4)},
            {"redo", around(0.7 * (1 - goodput), 2.5e-4)},
            {"degraded", around(0, 0)}}},
          {"job", {{"days", around(72 / goodput, 0.3)}, {"cost_usd", nullptr}}}};
}

struct SampleKey {
  std::string key;
  std::vector<std::string> values;
  Dimension dimension = Dimension::number;
  Json numbers() const {
    Json numbers = Json::array();
    try {
      for (const std::string& value : values) numbers.push_back(parse_quantity(value, dimension));
    } catch (const Error&) {
      return nullptr;
    }
    return numbers;
  }
};

const SampleKey kInterval = {"snapshots.0.every",
                             {"5 min", "10 min", "20 min", "1 h", "2 h", "4 h", "8 h"},
                             Dimension::seconds};
const SampleKey kRate = {"failures.*.rate",
                         {"1 per 1000 node-days", "3.24 per 1000 node-days",
                          "10 per 1000 node-days", "25 per 1000 node-days"},
                         Dimension::per_node_s};
const SampleKey kScheme = {"snapshots", {"sync", "gemini", "reft"}};

// The last key changes fastest. Every ninth point is infeasible.
Json sample_sweep(const std::vector<SampleKey>& keys) {
  Json vary = Json::array(), points = Json::array();
  size_t size = 1;
  for (const SampleKey& key : keys) {
    vary.push_back({{"key", key.key}, {"values", key.values}, {"numbers", key.numbers()}});
    size *= key.values.size();
  }
  size_t best = 0, next = 0;
  for (size_t index = 0; index < size; ++index) {
    Json set = Json::object();
    double far = 0;
    size_t below = size;
    for (const SampleKey& key : keys) {
      below /= key.values.size();
      const size_t at = index / below % key.values.size();
      set[key.key] = key.values[at];
      far += std::abs(2.0 * at / key.values.size() - 0.9);
    }
    points.push_back({{"index", index}, {"set", set}});
    if (index % 9 == 8) {
      points.back()["reason"] = "host memory: 12 GB <more> than there are";
      continue;
    }
    points.back()["result"] = sample_result(far);
    const auto goodput = [&](size_t i) {
      return points[i]["result"]["goodput"]["mean"].get<double>();
    };
    if (goodput(index) > goodput(best)) {
      next = best;
      best = index;
    }
  }
  return {{"scenario", "llama3 <405b>"},
          {"vary", vary},
          {"points", points},
          {"best",
           {{"index", best},
            {"runner_up",
             {{"index", next},
              {"set", points[next].at("set")},
              {"difference", around(0.0012, 0.0007)}}}}}};
}

SampleKey numbers(const std::string& key, int n) {
  SampleKey result{key, {}, Dimension::seconds};
  for (int i = 1; i <= n; ++i) result.values.push_back(fmt::format("{} h", i));
  return result;
}

TEST(SweepPage, IsReadableWithoutScripts) {
  const std::string html = sweep_page(sample_sweep({kRate, kInterval}));
  const std::string body = html.substr(0, html.find("<script"));
  EXPECT_NE(body.find("<h1>llama3 &lt;405b&gt;</h1><p>4 x 7 points over failures.*.rate, "
                      "snapshots.0.every</p>"),
            std::string::npos);
  EXPECT_NE(body.find("<dt>best of 25 that ran</dt><dd class=\"words\"><div>failures.*.rate = 10 "
                      "per 1000 node-days</div><div>snapshots.0.every = 2 h</div></dd>"),
            std::string::npos)
      << body;
  EXPECT_NE(body.find("0.12 points less goodput under the same failures (95 % interval 0.05 .. "
                      "0.19)."),
            std::string::npos);
  EXPECT_NE(body.find("Infeasible (3)"), std::string::npos);
  EXPECT_NE(body.find("and 2 more</th><td>host memory: 12 GB &lt;more&gt; than there are</td>"),
            std::string::npos);
  EXPECT_EQ(body.find("degraded"), std::string::npos) << "a column of zeros";
  EXPECT_EQ(body.find("cost"), std::string::npos) << "no price is known";
  // The best row is first.
  const size_t first = body.find(
      "<tbody><tr><th scope=\"row\">10 per 1000 node-days</th><th scope=\"row\">2 h</th>");
  EXPECT_NE(first, std::string::npos);
}

TEST(SweepPage, WarnsWhereTheBestPointIsOnTheEdge) {
  Json document = sample_sweep({kInterval});
  EXPECT_EQ(sweep_page(document).find("class=\"warning\""), std::string::npos);
  document["best"]["index"] = 0;
  EXPECT_NE(sweep_page(document).find("<p class=\"warning\">At the edge of the grid: the best "),
            std::string::npos);
}

// A key that does not matter is named as such, without a warning, even if the best value is on the
// edge.
TEST(SweepPage, SaysBetweenWhichValuesNothingIsGained) {
  Json document = sample_sweep({kInterval});
  document["best"]["index"] = 0;
  document["best"]["as_good"] = {{{"key", "snapshots.0.every"}, {"from", "30 min"}, {"to", "2 h"}}};
  const std::string page = sweep_page(document);
  EXPECT_EQ(page.find("class=\"warning\""), std::string::npos);
  EXPECT_NE(page.find("<p>snapshots.0.every does not matter"), std::string::npos);
}

TEST(SweepPage, SaysWhereReplicasCannotTellTheBestTwoApart) {
  Json document = sample_sweep({kInterval});
  document["best"]["runner_up"]["difference"] = around(0.0004, 0.0009);
  EXPECT_NE(sweep_page(document).find("do not show which of the two is better"), std::string::npos);
}

TEST(SweepPage, SaysHowSureItIsAndWhereNothingStandsOut) {
  Json document = sample_sweep({kRate, kInterval});
  EXPECT_EQ(sweep_page(document).find("No choice is clearly the best"), std::string::npos);
  EXPECT_EQ(sweep_page(document).find("How sure this is"), std::string::npos) << "of old programs";
  document["best"]["stands_out"] = false;
  document["trials"] = "100";
  document["cost_models"] = {"step times are off by 12.5 %"};
  const std::string html = sweep_page(document);
  EXPECT_NE(html.find("No choice is clearly the best: the gain of the best is less than"),
            std::string::npos);
  EXPECT_NE(html.find("95 % interval of the mean over 100 trials"), std::string::npos);
  EXPECT_NE(html.find("step times are off by 12.5 %; days and costs"), std::string::npos);
}

TEST(SweepPage, ALongTableHoldsTheBestAndSaysSo) {
  const std::string html =
      sweep_page(sample_sweep({numbers("a", 20), numbers("b", 20)}), {.max_rows = 50});
  EXPECT_NE(html.find("The best 50 of 356 points"), std::string::npos);
  size_t rows = 0;
  for (size_t at = html.find("<tr><th"); at != std::string::npos; at = html.find("<tr><th", at + 1))
    ++rows;
  EXPECT_EQ(rows, 52u) << "with the title and one line of reasons";
}

TEST(SweepPage, RefusesADamagedRecord) {
  const auto refused = [](const Json& document) {
    return fails([&] { check_sweep_document(document, "out/sweep.json"); },
                 "out/sweep.json: damaged record");
  };
  const Json document = sample_sweep({kRate, kInterval});
  EXPECT_NO_THROW(check_sweep_document(document, "out/sweep.json"));
  for (const char* part : {"scenario", "vary", "points"}) {
    Json damaged = document;
    damaged.erase(part);
    EXPECT_TRUE(refused(damaged)) << part;
  }
  Json damaged = document;
  damaged["points"][3].erase("set");
  EXPECT_TRUE(refused(damaged));
  damaged = document;
  damaged["points"][8].erase("reason");
  EXPECT_TRUE(refused(damaged));
  damaged = document;
  damaged["best"]["index"] = 99;
  EXPECT_TRUE(refused(damaged));
}

class SweepBrowser : public Browser {
 protected:
  std::string drawn(const Json& document, const std::string& probe = "") {
    return ready_dom(sweep_page(document), probe);
  }
};

// Counts the pixels of one colour in each chart.
constexpr const char* kCount = R"(
  const images = new Map();
  const pixels = (canvas, wanted) => {
    if (!images.has(canvas)) {
      const context = canvas.getContext("2d");
      images.set(canvas, context.getImageData(0, 0, canvas.width, canvas.height).data);
    }
    const data = images.get(canvas);
    let n = 0;
    for (let i = 0; i < data.length; i += 4) {
      n += wanted.every((channel, c) => Math.abs(data[i + c] - channel) < 3);
    }
    return n;
  };
  const charts = [...document.querySelectorAll("canvas")];
)";

TEST_F(SweepBrowser, OneKeyIsACurveWithTheBestMarked) {
  const std::string output = drawn(sample_sweep({kInterval}), std::string(kCount) + R"(
    document.body.dataset.charts = charts.length;
    document.body.dataset.curve = pixels(charts[0], [0x4e, 0x79, 0xa7]) > 300;
    document.body.dataset.best = pixels(charts[0], [0xe0, 0x24, 0x5e]) > 20;
  )");
  EXPECT_NE(output.find("data-charts=\"2\""), std::string::npos) << "curve and losses";
  EXPECT_NE(output.find("data-curve=\"true\""), std::string::npos);
  EXPECT_NE(output.find("data-best=\"true\""), std::string::npos);
}

TEST_F(SweepBrowser, TwoKeysAreAHeatMapThatShowsWhatIsChosen) {
  const std::string output = drawn(sample_sweep({kRate, kInterval}), std::string(kCount) + R"(
    document.body.dataset.charts = charts.length;
    document.body.dataset.best = pixels(charts[0], [0xe0, 0x24, 0x5e]) > 50;
    document.body.dataset.bright = pixels(charts[0], [0xfd, 0xe7, 0x25]) > 100;
    const legend = () => document.querySelector(".legend").textContent;
    document.body.dataset.legend = legend();
    const shown = document.querySelector(".controls select");
    document.body.dataset.metrics = [...shown.options].map((o) => o.textContent).join(", ");
    const height = charts[0].clientHeight;
    const choose = (select, value) => {
      select.value = value;
      select.dispatchEvent(new Event("change"));
    };
    choose(shown, "3");
    document.body.dataset.other = legend();
    choose(document.querySelectorAll(".controls select")[1], "0");
    document.body.dataset.swapped = document.querySelectorAll(".controls select")[2].value;
    document.body.dataset.taller = document.querySelector("canvas").clientHeight > height;
  )");
  for (const char* fact : {"data-charts=\"3\"", "data-best=\"true\"", "data-bright=\"true\"",
                           "data-metrics=\"goodput, ETTR, stall, redo, time to train\"",
                           "data-swapped=\"1\"", "data-taller=\"true\""}) {
    EXPECT_NE(output.find(fact), std::string::npos) << fact;
  }
  EXPECT_NE(output.find("data-legend=\"goodput: "), std::string::npos);
  EXPECT_NE(output.find("data-other=\"redo: "), std::string::npos);
}

TEST_F(SweepBrowser, FurtherKeysAreChosen) {
  const std::string output = drawn(sample_sweep({kScheme, kRate, kInterval}), R"(
    const selects = [...document.querySelectorAll(".controls select")];
    document.body.dataset.further = [...selects[3].options].map((o) => o.textContent).join(", ");
    document.body.dataset.start = selects[3].selectedOptions[0].textContent;
  )");
  EXPECT_NE(output.find("data-further=\"sync, gemini, reft\""), std::string::npos);
  EXPECT_NE(output.find("data-start=\"gemini\""), std::string::npos) << "where the best point is";
}

TEST_F(SweepBrowser, DrawsALargeGridOneValueAndNothing) {
  drawn(sample_sweep({numbers("a", 50), numbers("b", 50)}));
  drawn(sample_sweep({{"layout.pp", {"4"}, Dimension::number}}));
  Json document = sample_sweep({kInterval});
  for (Json& point : document["points"]) {
    point.erase("result");
    point["reason"] = "no";
  }
  document["best"] = nullptr;
  drawn(document);
}

TEST_F(SweepBrowser, FitsEveryScreen) {
  expect_fits(sweep_page(sample_sweep({kRate, kInterval})));
}

}  // namespace
}  // namespace windtunnel
