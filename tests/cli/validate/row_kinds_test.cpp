#include <gtest/gtest.h>

#include "cli/validate/validations.hpp"

namespace windtunnel {
namespace {

std::string kind_of_data(const std::string& name) {
  const JudgedKind* kind = kind_of_rows(std::string(WINDTUNNEL_SOURCE_DIR) + "/tests/data/" + name);
  return kind == nullptr ? "" : kind->name;
}

TEST(RowKinds, OfTheProjectsOwnTables) {
  EXPECT_EQ(kind_of_data("memory_runs.csv"), "runs");
  EXPECT_EQ(kind_of_data("zero_bubble_runs.csv"), "runs");
  EXPECT_EQ(kind_of_data("collectives.csv"), "collectives");
  EXPECT_EQ(kind_of_data("exchange_runs.csv"), "compression");
  EXPECT_EQ(kind_of_data("quantised_all_reduce.csv"), "compression");
  EXPECT_EQ(kind_of_data("schedule_oracle.csv"), "schedules");
  EXPECT_EQ(kind_of_data("zero_bubble_rates.csv"), "schedules");
  EXPECT_EQ(kind_of_data("fault_reference_points.csv"), "faults");
  EXPECT_EQ(kind_of_data("checkpoint_times.csv"), "checkpoints");
  EXPECT_EQ(kind_of_data("moe_dispatch_2026.csv"), "dispatch");
  EXPECT_EQ(kind_of_data("rl_steps_2026.csv"), "rollouts");
  EXPECT_EQ(kind_of_data("power_2026.csv"), "power");
  EXPECT_EQ(kind_of_data("failures_2026.csv"), "failures");
  EXPECT_EQ(kind_of_data("infinitehbd_faults.csv"), "");
  EXPECT_EQ(kind_of_data("kernel_samples.csv"), "");
}

TEST(RowKinds, EachIsNamedWithItsColumns) {
  for (const JudgedKind& kind : judged_kinds()) {
    EXPECT_NE(known_row_kinds().find(kind.name + " ("), std::string::npos) << kind.name;
  }
}

}  // namespace
}  // namespace windtunnel
