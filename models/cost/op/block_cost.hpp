// What one layer, the embedding or the loss head costs one GPU, and what the files that count its
// parts share. Apart from add_costs() it is for those files alone: chunk_cost.cpp and
// layer_table_cost.cpp (kernels, host), tensor_parallel.hpp, tensor_mesh.hpp, context_parallel.hpp
// and expert_parallel.hpp (what its ranks send each other).
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "models/compression/activation_codec.hpp"
#include "models/cost/op/inner_round.hpp"
#include "models/cost/op/op.hpp"
#include "models/cost/op/op_cost.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/plan/job.hpp"
#include "models/plan/task_cost.hpp"

namespace windtunnel {

// Of groups of this shape, which takes them so long.
InnerCollective inner_collective(InnerGroup group, CollectiveKind kind, const GroupShape& shape,
                                 double bytes, const CollectiveCost& cost);

// The ops of a block by pass.
struct PassOps {
  std::vector<Op> forward;
  std::vector<Op> backward_input;
  std::vector<Op> backward_weight;
};

// One pass of a BlockCost.
struct BlockPass {
  std::vector<CostPart>& parts;
  std::vector<InnerRound>& rounds;
  std::vector<CostPart>& end;

  // Charges what the round leaves exposed, what the end of a chunk adds to that, and the kernels
  // of its collectives. Nothing for a round that sends nothing.
  void add(InnerRound round) const;
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
  PassRounds rounds;  // whose exposed time the parts hold
  double hardware_flops = 0;
  double masked_flops = 0;   // of them, what fused attention leaves out under a causal mask
  double forward_flops = 0;  // of both, the forward pass
  double forward_masked_flops = 0;

  BlockPass of_forward() { return {forward, rounds.forward, forward_end}; }
  BlockPass of_backward_input() { return {backward_input, rounds.backward_input, backward_end}; }
  BlockPass of_backward_weight() { return {backward_weight, rounds.backward_weight, backward_end}; }
};

// Keeps one part per category and origin; nothing for no time.
void add_cost(std::vector<CostPart>& parts, Category category, Origin origin, double seconds);
void add_costs(std::vector<CostPart>& parts, const std::vector<CostPart>& more, double times);

// One micro-batch, or a slice of it, on one GPU. The job must outlive it.
struct BlockSetting {
  BlockSetting(const Job& job, const SequenceSlice& slice, int fused = 1);

  const Job& job;
  SequenceSlice slice;
  double rows = 0;  // tokens
  int fused = 1;    // ChunkUnit::fused

  OpCost cost(const Op& op) const;
  // Of all rows at this width: as a tensor stands, and as a linear layer's GEMM reads it.
  double activation_bytes(double width) const;
  double operand_bytes(double width) const;
  // On groups of this shape.
  InnerCollective collective(InnerGroup group, CollectiveKind kind, const GroupShape& shape,
                             double bytes) const;
  // What becomes of a collective over `bytes` of activations, of `element_bytes` each, by the
  // compressor of its axis: with the kernels that pack and unpack them; as it is where there is
  // none.
  std::vector<InnerCollective> exchanged(InnerGroup group, CollectiveKind kind,
                                         const GroupShape& shape, double bytes,
                                         double element_bytes) const;
  // Of what groups of this shape send; nothing where it goes as it is, or packed is no smaller.
  std::optional<ActivationCodec> codec(InnerGroup group, const GroupShape& shape,
                                       double element_bytes) const;
  void add_kernels(std::initializer_list<Op> kernels, InnerCollective& collective) const;
  // Share by which kernels take longer beside a collective.
  double slowdown() const { return job.calibration.overlap_slowdown.value; }
};

}  // namespace windtunnel
