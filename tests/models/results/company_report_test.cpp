#include "models/results/company_report.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

TEST(CompanyReport, StepsWhileAllJobsRun) {
  // The second job's first step ends at 5, the first job's last step at 12.
  const StepEnds ends = {{2, 4, 6, 9, 12}, {5, 10, 15}};
  const CommonWindow window = common_window(ends);
  EXPECT_EQ(window.begin_s, 5);
  EXPECT_EQ(window.end_s, 12);
  EXPECT_EQ(steps_in(window, ends[0]).steps, 2);  // those that end at 9 and 12
  EXPECT_EQ(steps_in(window, ends[0]).step_s, 3);
  EXPECT_EQ(steps_in(window, ends[1]).steps, 1);
  EXPECT_EQ(steps_in(window, ends[1]).step_s, 5);
}

TEST(CompanyReport, JobsThatDoNotRunAtOnceHaveNoSteps) {
  const StepEnds ends = {{1, 2, 3}, {4, 5}};
  EXPECT_EQ(steps_in(common_window(ends), ends[0]).steps, 0);
  EXPECT_EQ(steps_in(common_window(ends), ends[1]).steps, 0);
}

}  // namespace
}  // namespace windtunnel
