#include "report/store/sweep_edges.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/store/sweep_ranking.hpp"

namespace windtunnel {
namespace {

constexpr const char* kEvery = "snapshots.0.every";

// Makes a sweep over a key, such as the snapshot interval, with the goodput of each value.
Json sweep_of(const std::string& key, const std::vector<double>& numbers,
              const std::vector<double>& goodputs) {
  Json values = Json::array(), points = Json::array();
  size_t best = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    values.push_back(fmt::format("{:g} s", numbers[i]));
    points.push_back({{"index", i},
                      {"set", {{key, values[i]}}},
                      {"result", {{"goodput", {{"mean", goodputs[i]}}}}}});
    if (goodputs[i] > goodputs[best]) best = i;
  }
  return {{"vary", {{{"key", key}, {"values", values}, {"numbers", numbers}}}},
          {"points", points},
          {"best", {{"index", best}}}};
}

TEST(SweepEdges, OfWhatIsBestAtAnEnd) {
  const auto first = edges_of_best(sweep_of(kEvery, {600, 1200, 3600}, {0.9, 0.8, 0.7}));
  ASSERT_EQ(first.size(), 1U);
  EXPECT_TRUE(first[0].least);
  EXPECT_EQ(edge_text(first[0]),
            "the best snapshots.0.every, 600 s, is the smallest that was tried, so there may be a "
            "better one beyond it: widen --vary snapshots.0.every to less than 600 s");
  // Values count in the order given, even if they do not ascend.
  const auto last = edges_of_best(sweep_of(kEvery, {3600, 600, 1200}, {0.9, 0.7, 0.8}));
  ASSERT_EQ(last.size(), 1U);
  EXPECT_FALSE(last[0].least);
  EXPECT_EQ(last[0].value, "3600 s");
}

// Under both rates the longest interval is the best. It is reported once, for the first rate.
TEST(SweepEdges, OfWhatIsBestUnderEachCircumstance) {
  Json document = sweep_of(kEvery, {600, 1200, 3600}, {0.7, 0.8, 0.9});
  document["vary"].push_back({{"key", "failures.0.rate"}, {"values", {"low", "high"}}});
  Json more = document["points"];
  for (Json& point : document["points"]) point["set"]["failures.0.rate"] = "low";
  for (Json& point : more) {
    point["index"] = point["index"].get<int>() + 3;
    point["set"]["failures.0.rate"] = "high";
    document["points"].push_back(point);
  }
  document["best_by"] = {{{"index", 2}}, {{"index", 5}}};
  const auto edges = edges_of_best(document);
  ASSERT_EQ(edges.size(), 1U);
  EXPECT_TRUE(edge_text(edges[0]).starts_with(
      "the best snapshots.0.every under failures.0.rate=low, 3600 s, is the largest"))
      << edge_text(edges[0]);
}

// If trials cannot distinguish the intervals, no edge is reported; instead the result states that
// the interval does not matter.
TEST(SweepEdges, NoneWhereItDoesNotMatter) {
  Json points = Json::array();
  const std::vector<std::string> values = {"5 min", "30 min", "4 h", "2 d"};
  const std::vector<double> goodputs = {0.9, 0.90001, 0.90002, 0.8};
  for (size_t i = 0; i < values.size(); ++i) {
    Json trials = Json::array();
    for (const double chance : {-0.01, 0.0, 0.01}) trials.push_back(goodputs[i] + chance);
    points.push_back({{"index", i},
                      {"set", {{kEvery, values[i]}}},
                      {"trial_goodput", trials},
                      {"result", {{"goodput", estimate_json({.mean = goodputs[i]})}}}});
  }
  const Sweep sweep{.scenario = {}, .vary = {{kEvery, values}}};
  const Json best = best_point(sweep, {points.begin(), points.end()});
  EXPECT_EQ(best.at("index"), 2);
  const Json range = {{{"key", kEvery}, {"from", "5 min"}, {"to", "4 h"}}};
  EXPECT_EQ(best.at("as_good"), range);
  // A cost does not change the progress, but it matters.
  points[0]["result"]["job"]["cost_usd"] = 2e6;
  for (const size_t i : {1, 2, 3}) points[i]["result"]["job"]["cost_usd"] = 1e6;
  const Json dearer = best_point(sweep, {points.begin(), points.end()}).at("as_good");
  EXPECT_EQ(dearer[0].at("from"), "30 min") << dearer;
  Json document = sweep_of(kEvery, {300, 1800, 14400}, {0.9, 0.90001, 0.90002});
  EXPECT_EQ(edges_of_best(document).size(), 1U);
  document["best"]["as_good"] = best.at("as_good");
  EXPECT_TRUE(edges_of_best(document).empty());
  const std::vector<std::string> texts = as_good_texts(document);
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_TRUE(
      texts[0].starts_with("snapshots.0.every does not matter between 5 min and 4 h: at "
                           "most 0.1 points of goodput"))
      << texts[0];
}

TEST(SweepEdges, NoneWhereNothingLiesBeyond) {
  EXPECT_TRUE(edges_of_best(sweep_of(kEvery, {600, 1200, 3600}, {0.8, 0.9, 0.7})).empty());
  EXPECT_TRUE(edges_of_best(sweep_of(kEvery, {600, 1200, 3600}, {0.9, 0.9, 0.9})).empty())
      << "the key decides nothing";
  EXPECT_TRUE(edges_of_best(sweep_of(kEvery, {600, 1200}, {0.9, 0.8})).empty())
      << "of two values each is an edge";
  EXPECT_TRUE(edges_of_best(sweep_of("failures.0.rate", {1, 2, 3}, {0.9, 0.8, 0.7})).empty())
      << "nobody chooses it";
  EXPECT_TRUE(edges_of_best(sweep_of("layout.vpp", {1, 2, 4}, {0.9, 0.8, 0.7})).empty())
      << "there is no vpp below 1";
  Json nothing = sweep_of(kEvery, {600, 1200, 3600}, {0.9, 0.8, 0.7});
  nothing["best"] = nullptr;
  EXPECT_TRUE(edges_of_best(nothing).empty());
}

}  // namespace
}  // namespace windtunnel
