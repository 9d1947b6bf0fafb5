#include "models/workload/axes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/error_of.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

TEST(Axes, EachHasAMemberAndAKeyOfItsOwn) {
  Layout layout;
  std::set<std::string_view> keys;
  int next = 2;
  for (const Axis& axis : kAxes) {
    EXPECT_EQ(axis.key, "layout." + std::string(axis.name));
    EXPECT_TRUE(keys.insert(axis.key).second) << axis.key;
    EXPECT_EQ(layout.*axis.size, 1) << axis.key;  // no other axis has set this member
    layout.*axis.size = next++;
  }
  EXPECT_EQ(layout.ranks(), layout.tp * layout.cp * layout.pp * layout.dp);
}

TEST(Axes, NoneIsBelowOne) {
  for (const Axis& axis : kAxes) {
    Job job = small_job(1, 2, 2, 2);
    job.layout.*axis.size = 0;
    EXPECT_THAT(error_of([&] {
                  check_layout(job.model, job.layout, job.batch, job.cluster.gpus(),
                               job.cluster.node.gpus);
                }),
                testing::StartsWith(std::string(axis.key) + " is 0; it must be at least 1"));
  }
}

}  // namespace
}  // namespace windtunnel
