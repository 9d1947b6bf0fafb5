#include "validate/documents/sample_fault_report.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

std::vector<SampleFault> two_faults() {
  return {{"outliers", FaultSeverity::warned, {"s.csv:7"}, "copy bytes=1", "measure again"},
          {"outliers", FaultSeverity::warned, {"1", "2", "3", "4", "5"}, "others", "measure again"},
          {"drift", FaultSeverity::refused, {}, "slower\nat the end", "wait"}};
}

TEST(SampleFaultsReport, TextNamesRowsAndAdvisesOncePerKind) {
  EXPECT_EQ(sample_faults_text(two_faults()),
            "warned, outliers: copy bytes=1 (s.csv:7)\n"
            "warned, outliers: others (1, 2, 3 and 2 others)\n"
            "  measure again\n"
            "refused, drift: slower\nat the end\n"
            "  wait\n");
  EXPECT_EQ(sample_faults_text({}), "");
}

TEST(SampleFaultsReport, CommentsAreLinesOfAYamlFile) {
  EXPECT_EQ(sample_faults_comment(two_faults()),
            "# warned, outliers: copy bytes=1\n"
            "# warned, outliers: others\n"
            "# refused, drift: slower at the end\n");
}

TEST(SampleFaultsReport, JsonHoldsAll) {
  const Json list = sample_faults_json(two_faults());
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[1]["rows"].size(), 5U);
  EXPECT_EQ(list[2]["severity"], "refused");
  EXPECT_EQ(list[0]["kind"], "outliers");
  EXPECT_EQ(list[0]["advice"], "measure again");
  EXPECT_EQ(list[2]["what"], "slower\nat the end");
}

}  // namespace
}  // namespace windtunnel
