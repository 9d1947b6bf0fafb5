// Which passes over the pipeline each GPU makes under a LengthPlan, and with which GPUs it
// synchronises in each pass.
#pragma once

#include <compare>
#include <vector>

#include "models/plan/job.hpp"
#include "policies/lengths/length_balance.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

struct PackPass {
  int round = 0;
  int pack = -1;  // index in the round; -1: the pass has no tokens
  std::vector<MeetingGpus> meets = {};
  // tokens that its experts receive beyond those of its own pack; negative: fewer
  double expert_tokens = 0;

  auto operator<=>(const PackPass&) const = default;
};
using PackPasses = std::vector<PackPass>;

// Returns the passes of each GPU of the pool in order, at least one.
std::vector<PackPasses> passes_of(const Job& job, const LengthPlan& plan);

}  // namespace windtunnel
