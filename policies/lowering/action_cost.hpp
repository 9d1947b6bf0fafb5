// Time and memory of a schedule's actions on their rank, by category and origin. The tasks of a
// Plan and the closed estimate both use them. The evaluator (schedule_stages.hpp) has the same
// costs as plain seconds.
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

  // Returns the cost of a compute action, by category and origin.
  std::vector<CostPart> parts(const Action& action) const;
  // Returns the cost of a forward and the following full backward that run as one (overlapped_s()).
  // Hidden time is subtracted from their expert-parallel communication.
  std::vector<CostPart> pair_parts(const Action& forward, const Action& backward) const;

  double allocated_bytes(const Action& action) const;  // when the action starts
  double freed_bytes(const Action& action) const;      // when the action ends

 private:
  bool keeps_all(const Action& action) const;  // the stage does not recompute, but others do

  const Schedule& schedule_;
  const std::vector<ChunkCost>& units_;
  std::vector<bool> recomputed_;  // [stage]; empty: there are no recompute actions
};

}  // namespace windtunnel
