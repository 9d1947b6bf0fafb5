#include "traces/rows/row_kinds.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

std::optional<RowKind> kind_of_data(const std::string& name) {
  return kind_of_rows(std::string(WINDTUNNEL_SOURCE_DIR) + "/tests/data/" + name);
}

TEST(RowKinds, OfTheProjectsOwnTables) {
  EXPECT_EQ(kind_of_data("memory_runs.csv"), RowKind::runs);
  EXPECT_EQ(kind_of_data("zero_bubble_runs.csv"), RowKind::runs);
  EXPECT_EQ(kind_of_data("collectives.csv"), RowKind::collectives);
  EXPECT_EQ(kind_of_data("exchange_runs.csv"), RowKind::compression);
  EXPECT_EQ(kind_of_data("quantised_all_reduce.csv"), RowKind::compression);
  EXPECT_EQ(kind_of_data("schedule_oracle.csv"), RowKind::schedules);
  EXPECT_EQ(kind_of_data("zero_bubble_rates.csv"), RowKind::schedules);
  EXPECT_EQ(kind_of_data("fault_reference_points.csv"), RowKind::faults);
  EXPECT_EQ(kind_of_data("checkpoint_times.csv"), RowKind::checkpoints);
  EXPECT_EQ(kind_of_data("infinitehbd_faults.csv"), std::nullopt);
  EXPECT_EQ(kind_of_data("kernel_samples.csv"), std::nullopt);
}

TEST(RowKinds, EachIsNamedWithItsColumns) {
  for (const std::string_view name : names_of<RowKind>()) {
    EXPECT_NE(known_row_kinds().find(std::string(name) + " ("), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace windtunnel
