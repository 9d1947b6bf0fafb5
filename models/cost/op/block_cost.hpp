// What one layer, the embedding or the loss head costs one GPU, and what the files that count its
// parts share. For those files alone: chunk_cost.cpp and layer_table_cost.cpp (kernels, host),
// tensor_parallel.hpp, tensor_mesh.hpp, context_parallel.hpp and expert_parallel.hpp (what its
// ranks send each other).
#pragma once

#include <vector>

#include "models/cost/op/op.hpp"
#include "models/cost/op/op_cost.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/plan/job.hpp"
#include "models/plan/task_cost.hpp"

namespace windtunnel {

// The ops of a block by pass.
struct PassOps {
  std::vector<Op> forward;
  std::vector<Op> backward_input;
  std::vector<Op> backward_weight;
};

struct BlockCost {
  std::vector<CostPart> forward;
  std::vector<CostPart> backward_input;
  std::vector<CostPart> backward_weight;
  std::vector<CostPart> recompute;
  // What a chunk's last layer adds where its collectives would run beside the layer that follows
  // (backward: the first one's, beside the layer before).
  std::vector<CostPart> forward_end;
  std::vector<CostPart> backward_end;
  double hardware_flops = 0;
};

// Keeps one part per category and origin; nothing for no time.
void add_cost(std::vector<CostPart>& parts, Category category, Origin origin, double seconds);
void add_costs(std::vector<CostPart>& parts, const std::vector<CostPart>& more, double times);

// One micro-batch, or a slice of it, on one GPU. The job must outlive it.
struct BlockSetting {
  BlockSetting(const Job& job, const SequenceSlice& slice);

  const Job& job;
  SequenceSlice slice;
  double rows = 0;  // tokens

  OpCost cost(const Op& op) const;
  // Of all rows at this width: as a tensor stands, and as a linear layer's GEMM reads it.
  double activation_bytes(double width) const;
  double operand_bytes(double width) const;
  CollectiveCost collective(CollectiveKind kind, const GroupShape& shape, double bytes) const;
  // Of a collective beside compute the part that runs meanwhile.
  double covered_s(double collective_s, double compute_s) const;
  // What a collective beside compute adds to it: the part that sticks out, and what it slows.
  double beside_s(double collective_s, double compute_s) const;
};

}  // namespace windtunnel
