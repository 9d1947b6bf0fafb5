#include "validate/documents/validation.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

ValidationReport sample() {
  ValidationReport report;
  report.rows = {
      {"rows.csv:2", "1f1b", "bubble_rate", 0.25, 0.25, 0.25, 0.25, Origin::published, {}},
      {"rows.csv:3", "1f1b", "bubble_rate", 0.5, 0.4, 0.4, 0.4, Origin::published, {}}};
  report.skipped = {{"rows.csv:4", "unknown schedule 'x'"}, {"rows.csv:5", "unknown schedule 'x'"}};
  summarise_families(report, {{"1f1b", "rates of a paper"}});
  return report;
}

TEST(ValidationDocument, HoldsEveryRowAndReason) {
  const Json document = validation_json(sample());
  ASSERT_EQ(document["families"].size(), 1u);
  const Json& family = document["families"][0];
  EXPECT_EQ(family["rows"], 2);
  EXPECT_NEAR(family["mape"].get<double>(), 0.1, 1e-12);
  EXPECT_EQ(family["worst"]["id"], "rows.csv:3");
  EXPECT_TRUE(family["oom"].is_null());
  EXPECT_TRUE(family["coverage90"].is_null());
  EXPECT_EQ(document["rows"].size(), 2u);
  EXPECT_EQ(document["rows"][1]["origin"], "published");
  EXPECT_EQ(document["skipped"].size(), 2u);
}

TEST(ValidationText, NamesTheWorstRowAndGroupsReasons) {
  const std::string text = console_text(rows_document(sample()));
  for (const char* part : {"rows.csv:3", "0.1000", "1f1b: rates of a paper",
                           "2 rows predicted, 2 not", "  2: unknown schedule 'x'"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin:\n" << text;
  }
}

}  // namespace
}  // namespace windtunnel
