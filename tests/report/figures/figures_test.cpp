#include "report/figures/figures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "models/results/paired_gain.hpp"
#include "report/figures/model_range.hpp"
#include "report/json/json.hpp"
#include "report/summary/summary.hpp"
#include "tests/report/sample_record.hpp"

namespace windtunnel {
namespace {

TEST(Figures, KeysArePathsOfTheRunDocument) {
  const Record record = sample_record();
  const Json document = run_document(record, false);
  std::set<std::string> keys;
  for (const Figure& figure : figures()) {
    EXPECT_TRUE(keys.insert(figure.key).second) << figure.key << " is listed twice";
    EXPECT_FALSE(figure.title.empty() || figure.help.empty()) << figure.key;
    std::string path = "/" + figure.key;
    for (char& c : path) c = c == '.' ? '/' : c;
    const FigureValue value = figure.of(record);
    const Json::json_pointer pointer(path);
    EXPECT_EQ(document.contains(pointer), !std::holds_alternative<std::monostate>(value)) << path;
    if (const auto* number = std::get_if<double>(&value)) {
      EXPECT_EQ(document.at(pointer), *number) << path;
    }
    if (const auto* estimate = std::get_if<Estimate>(&value)) {
      EXPECT_EQ(document.at(pointer).at("p95"), estimate->p95) << path;
    }
  }
}

TEST(Figures, TextsHaveTheirUnits) {
  const Record record = sample_record();
  for (const auto& [key, text] :
       {std::pair{"iteration.tflops_per_gpu", "412"},
        {"iteration.mfu", "41.7 %"},
        {"iteration.memory_bytes.fits", "yes"},
        {"campaign.job.days", "77.5 d"},
        {"campaign.job.cost_usd", "61.0 M USD"},
        {"campaign.copy.name", "peers"},
        {"campaign.copy.survival_7d", "99.975 %"},
        {"campaign.snapshots.overhead", "1.00 %"},
        {"campaign.failures", "node 358.0, planned 47.0, unexpected 419.0"},
        {"job.days", ""}}) {
    EXPECT_EQ(figure(key).text(record), text) << key;
  }
}

TEST(Figures, IslandsAreUsedWhereExchangesLeaveThemTheTime) {
  Record record = sample_record();
  record.iteration.inner_step_s = 3;
  record.iteration.time_s = 4;
  EXPECT_EQ(figure("iteration.sync_utilization").text(record), "");
  record.job.sync = {{.over = "site"}};
  EXPECT_EQ(figure("iteration.sync_utilization").text(record), "75.0 %");
}

// If the log standard deviation is known to be 0.1, 95 % of predictions are off by less than a
// factor of e^0.196.
TEST(Figures, RangesFollowTheCalibrationsError) {
  Record record = sample_record();
  record.iteration.error = {0.1, 0.1, 0.1, Origin::measured, "test"};
  record.campaign->goodput.mean = 0.8;
  record.campaign->goodput_by_model = {.if_faster = 0.84, .if_slower = 0.7};
  const double factor = std::exp(0.1 * 1.959964);
  const auto expect_range = [&](const char* key, double low, double high) {
    const std::optional<FigureRange> range = model_range(figure(key), record);
    ASSERT_TRUE(range) << key;
    EXPECT_NEAR(range->low / low, 1, 1e-5) << key;
    EXPECT_NEAR(range->high / high, 1, 1e-5) << key;
  };
  const double step_s = record.iteration.time_s;
  const double days = record.campaign->job_days.mean;
  expect_range("iteration.time_s", step_s / factor, step_s * factor);
  expect_range("iteration.mfu", record.iteration.mfu / factor, record.iteration.mfu * factor);
  expect_range("campaign.goodput", 0.7, 0.84);
  expect_range("campaign.job.days", days / factor * 0.8 / 0.84, days * factor * 0.8 / 0.7);
  EXPECT_FALSE(model_range(figure("iteration.memory_bytes.peak"), record));
  EXPECT_FALSE(model_range(figure("job.days"), record));

  record.job.calibration.memory_error = record.iteration.error;
  const double peak = number_of(figure("iteration.memory_bytes.peak").of(record));
  expect_range("iteration.memory_bytes.peak", peak / factor, peak * factor);

  record.iteration.mfu = 0.95;
  record.iteration.hfu_causal = 0.95;
  expect_range("iteration.mfu", 0.95 / factor, 1);  // no GPU is faster than its peak
  const Json ranges = run_document(record, false).at("model_error").at("ranges");
  EXPECT_DOUBLE_EQ(ranges.at("iteration.mfu").at("high").get<double>(), 1);
  EXPECT_FALSE(ranges.contains("job.days"));
}

// The peak bounds the fast end of the whole training as it bounds the fast end of its steps.
TEST(Figures, ThePeakEndsDaysAndCostAsItEndsSteps) {
  Record record = sample_record();
  record.iteration.error = {0.1, 0.1, 0.1, Origin::measured, "test"};
  record.iteration.hfu_causal = 0.95;
  record.campaign->goodput.mean = 0.8;
  record.campaign->goodput_by_model = {.if_faster = 0.8, .if_slower = 0.8};
  const double factor = std::exp(0.1 * 1.959964);
  for (const char* key : {"iteration.time_s", "campaign.job.days", "campaign.job.cost_usd"}) {
    const Figure& each = figure(key);
    const double value = number_of(each.of(record));
    ASSERT_GT(value, 0) << key;
    const std::optional<FigureRange> range = model_range(each, record);
    ASSERT_TRUE(range) << key;
    EXPECT_NEAR(range->low / value, 0.95, 1e-9) << key;
    EXPECT_NEAR(range->high / value, factor, 1e-5) << key;
    const std::optional<FigureRange> law = model_range(each, record, FastEnd::by_the_law);
    ASSERT_TRUE(law) << key;
    EXPECT_NEAR(law->low / value, 1 / factor, 1e-5) << key;
  }
}

// Campaigns are simulated with steps up to the peak, and faster steps lower their goodput. Beyond
// the peak the same law holds: the logarithm of days is linear in the logarithm of the step time.
TEST(Figures, TheLawOfDaysIsTheSameOnBothSidesOfThePeak) {
  Record record = sample_record();
  record.iteration.error = {0.1, 0.1, 0.1, Origin::measured, "test"};
  record.iteration.hfu_causal = 0.95;
  record.campaign->goodput.mean = 0.8;
  record.campaign->goodput_by_model = {.if_faster = 0.79, .if_slower = 0.8};
  const Figure& days = figure("campaign.job.days");
  const double value = number_of(days.of(record));
  const std::optional<FigureRange> held = model_range(days, record);
  const std::optional<FigureRange> law = model_range(days, record, FastEnd::by_the_law);
  ASSERT_TRUE(held && law);
  EXPECT_NEAR(held->low / value, 0.95 * 0.8 / 0.79, 1e-9);
  const double steps = 0.1 * 1.959964 / -std::log(0.95);
  EXPECT_NEAR(std::log(law->low / value), steps * std::log(held->low / value), 1e-5);
}

// The range that is printed beside a figure is the wider of two: that of trials and that of cost
// models.
TEST(Figures, KeyFiguresHaveTheWiderRange) {
  Record record = sample_record();
  record.job.calibration.step_error = {0.1, 0.1, 0.1, Origin::measured, "test"};
  record.campaign->goodput = {.mean = 0.8, .low = 0.78, .high = 0.82};
  record.campaign->goodput_by_model = {.if_faster = 0.81, .if_slower = 0.7};
  const Answer summary = summarise(record);
  const auto goodput = std::ranges::find(summary.figures, "goodput", &SummaryRow::label);
  ASSERT_NE(goodput, summary.figures.end());
  EXPECT_EQ(goodput->detail, "70.0 % .. 82.0 %");
}

// 1 T tokens are trained in steps of 2,048 x 8,192 tokens that take 8 s, on 16,384 GPUs at 2 USD
// per hour.
TEST(Figures, TokensWithoutACampaignAreDaysIfNothingFails) {
  Record record = sample_record({.campaign = false});
  record.iteration.time_s = 8;
  record.job.tokens = 1e12;
  record.job.price_usd_per_gpu_s = 2.0 / 3600;
  record.job.cluster.nodes = 2048;
  record.job.cluster.node.gpus = 8;
  EXPECT_EQ(figure("job.days").text(record), "5.52 d");
  EXPECT_EQ(figure("job.cost_usd").text(record), "4.34 M USD");
  EXPECT_EQ(figure("job.steps").text(record), "");
  const Answer summary = summarise(record);
  EXPECT_TRUE(std::ranges::any_of(summary.sections, [](const SummarySection& section) {
    return section.title == "To train on all tokens, if nothing fails";
  }));
  // With a campaign the figure would include failures.
  record.campaign = sample_record().campaign;
  EXPECT_EQ(figure("job.days").text(record), "");
}

TEST(Figures, RangesOfIntervalsSayTheirRule) {
  for (const char* key : {"shortest_s", "longest_s"}) {
    const std::string help = interval_figure(key).help;
    EXPECT_TRUE(help.ends_with(": " + as_good_loss_text())) << help;
  }
}

TEST(Figures, OfSeveralTiersThatOnStorageStandsForThemLast) {
  Record record = sample_record();
  EXPECT_EQ(best_copy(record)->name, "peers");
  record.campaign->tiers.erase(record.campaign->tiers.begin());
  EXPECT_EQ(best_copy(record)->name, "storage");
  record.campaign->tiers.clear();
  EXPECT_EQ(best_copy(record), nullptr);
  EXPECT_EQ(figure("campaign.copy.saving_s").text(record), "");
}

}  // namespace
}  // namespace windtunnel
