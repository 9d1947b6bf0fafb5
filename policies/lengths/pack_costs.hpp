// Costs of passes over packs of unequal sequences.
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "policies/lengths/length_balance.hpp"
#include "policies/lengths/length_costs.hpp"
#include "policies/lengths/pack_passes.hpp"

namespace windtunnel {

// The cost of each pass over a pack of a LengthPlan, on the GPUs of the given LengthCosts.
class PackCosts {
 public:
  // Keeps references to `costs` and `plan`.
  PackCosts(const Job& job, const LengthCosts& costs, const LengthPlan& plan,
            const std::vector<int>& lengths);

  // Returns [stage of the model * slices + slice].
  std::vector<ChunkCost> of(const PackPass& pass) const;
  // [stage of the model] Averages over packs: the mean of their times, but the memory of the
  // fullest.
  const std::vector<ChunkCost>& mean() const { return means_; }

 private:
  std::vector<ChunkCost> of_pack(const LengthPack& pack, const std::vector<int>& lengths,
                                 const std::vector<AttentionSeconds>& attention) const;
  ChunkCost mean_of_stage(std::size_t stage) const;

  const LengthCosts& costs_;
  const LengthPlan& plan_;
  const int slices_;
  std::vector<std::vector<std::vector<ChunkCost>>> packs_;  // [round][pack]
  std::vector<ChunkCost> idle_;                             // cost of a pass without sequences
  std::vector<ChunkCost> means_;
};

}  // namespace windtunnel
