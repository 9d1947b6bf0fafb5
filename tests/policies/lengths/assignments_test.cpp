// Tests of which assignments of unequal sequences are lowered and evaluated.
#include "policies/lengths/assignments.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "models/cost/chunk/step_work.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

// [round][pack]: first GPU, number of GPUs, sequences.
using Packs = std::vector<std::vector<std::tuple<int, int, std::vector<int>>>>;

Packs packs_of_plan(const LengthPlan& plan) {
  Packs packs;
  for (const auto& round : plan.rounds) {
    auto& own = packs.emplace_back();
    for (const LengthPack& pack : round) own.emplace_back(pack.first, pack.ranks, pack.sequences);
  }
  return packs;
}

// If memory holds all sequences at once, half of the memory does so too, which gives no new
// assignment; others are tried instead.
TEST(Assignments, AssignmentsThatAreTriedAreUnlike) {
  for (const LengthPolicy policy : {LengthPolicy::flexsp, LengthPolicy::hdp}) {
    for (const int cp : {1, 2}) {
      for (const double memory : {1e12, 80e9, 8e9}) {
        Job job = small_job(1, 2, 8 / cp);
        job.layout.cp = cp;
        job.cluster = small_cluster(4, 4);
        job.batch = {8 * job.layout.dp, 1, 4096};
        job.lengths = {{.median = 300, .sigma = 1.2, .longest = 4096}, policy, 7};
        job.cluster.node.gpu.memory_bytes = spec(memory);
        const std::vector<Assignment> tried = assignments(job, step_lengths(job));
        std::set<Packs> own;  // the last one may be fixed, equal or not
        for (std::size_t i = 0; i + 1 < tried.size(); ++i) {
          EXPECT_TRUE(own.insert(packs_of_plan(tried[i].plan)).second) << i;
        }
        // With little memory, each halving of the room gives another assignment.
        EXPECT_GE(own.size(), memory < 10e9 ? 3U : 1U) << int(policy) << " " << cp;
      }
    }
  }
}

}  // namespace
}  // namespace windtunnel
