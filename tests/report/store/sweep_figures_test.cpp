#include "report/store/sweep_figures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "tests/report/sample_record.hpp"

namespace windtunnel {
namespace {

// Builds a point as a sweep keeps it.
Json sample_point() {
  const Record record = sample_record();
  return {{"iteration", run_document(record, false).at("iteration")},
          {"result", campaign_json(record)}};
}

TEST(SweepFigures, AreReadFromAPointAsFromARecord) {
  const Record record = sample_record();
  const Json point = sample_point();
  for (const std::string& key : sweep_keys()) {
    EXPECT_EQ(text_at(point, key), figure(key).text(record)) << key;
    // If the record lacks the figure, the point must have no number.
    const double of_record = number_of(figure(key).of(record));
    const std::optional<double> due =
        std::isnan(of_record) ? std::nullopt : std::optional(of_record);
    EXPECT_EQ(number_at(point, key), due) << key;
  }
  EXPECT_EQ(number_at(point, "campaign.goodput", "p05"), record.campaign->goodput.p05);
  EXPECT_EQ(number_at(point, "campaign.failures", "unexpected"), 419);
  EXPECT_EQ(range_at(point, "campaign.goodput"), "92.9 % .. 93.1 %");
  EXPECT_FALSE(number_at(point, "campaign.failures", "hang"));
  EXPECT_FALSE(number_at({{"reason", "no"}}, "campaign.goodput"));
  EXPECT_EQ(range_at({{"reason", "no"}}, "campaign.goodput"), "");
}

TEST(SweepFigures, ColumnsThatSayNothingAreLeftOut) {
  const Json point = sample_point();
  std::vector<std::string> titles;
  for (const SweepColumn& column : sweep_columns({&point})) titles.push_back(column.title);
  EXPECT_EQ(titles,
            (std::vector<std::string>{"goodput", "95 % interval", "ETTR", "stall", "redo", "detect",
                                      "restart", "wait", "step time", "time to train", "cost"}));
}

TEST(SweepFigures, EveryStoredColumnIsAFigureOfThePoint) {
  const Json point = sample_point();
  for (const StoredColumn& column : stored_columns()) {
    EXPECT_TRUE(number_at(point, column.key, column.part)) << column.name;
    EXPECT_FALSE(figure(column.key).title.empty());
  }
}

}  // namespace
}  // namespace windtunnel
