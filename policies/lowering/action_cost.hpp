// What the actions of a schedule cost and keep on their rank, in parts by category and origin: what
// a Plan's tasks and a closed estimate charge. The evaluator (schedule_stages.hpp) has the same in
// plain seconds.
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/schedule.hpp"
#include "models/plan/task_cost.hpp"

namespace windtunnel {

class ActionCosts {
 public:
  // Keeps references. `units`: unit_costs(), [stage of the model * slices + slice].
  ActionCosts(const Schedule& schedule, const std::vector<ChunkCost>& units);

  int cell_of(const Action& action) const;  // index into units
  const ChunkCost& unit(const Action& action) const { return units_[cell_of(action)]; }

  std::vector<bool> passes_gradient() const;  // [stage of the model] ChunkCost::passes_gradient

  // The parts of an action that computes.
  std::vector<CostPart> parts(const Action& action) const;
  // The parts of a forward and the full backward after it as one (overlapped_s). Hidden time is
  // subtracted from their expert-parallel communication.
  std::vector<CostPart> pair_parts(const Action& forward, const Action& backward) const;

  double allocated_bytes(const Action& action) const;  // when it starts
  double freed_bytes(const Action& action) const;      // when it ends

 private:
  bool keeps_all(const Action& action) const;  // although others are recomputed

  const Schedule& schedule_;
  const std::vector<ChunkCost>& units_;
  std::vector<bool> recomputed_;  // [stage]; empty: by no action of its own
};

}  // namespace windtunnel
