// Which passes over the pipeline each GPU makes under a LengthPlan, and which GPUs it meets in
// each.
#pragma once

#include <compare>
#include <vector>

#include "models/plan/job.hpp"
#include "policies/lengths/length_balance.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

struct PackPass {
  int round = 0;
  int pack = -1;  // of the round; -1: the pass has no tokens
  std::vector<MeetingGpus> meets = {};
  double expert_tokens = 0;  // tokens that its experts get beyond those of its own pack

  auto operator<=>(const PackPass&) const = default;
};
using PackPasses = std::vector<PackPass>;

// [GPU of the pool] its passes in their order, at least one.
std::vector<PackPasses> passes_of(const Job& job, const LengthPlan& plan);

}  // namespace windtunnel
