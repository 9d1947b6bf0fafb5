// The cost of one layer, the embedding or the loss head on one GPU, and helpers for the files that
// compute its parts. Apart from add_costs() they are internal to these files: chunk_cost.cpp and
// layer_table_cost.cpp (kernels, host), tensor_parallel.hpp, tensor_mesh.hpp, context_parallel.hpp
// and expert_parallel.hpp (communication inside the replica).
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

// Describes a collective in groups of this shape, with its cost.
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

  // Adds the round's exposed time, the additional exposed time at the end of a chunk, and the
  // kernels of its collectives. Ignores a round without collectives.
  void add(InnerRound round) const;
};

struct BlockCost {
  std::vector<CostPart> forward;
  std::vector<CostPart> backward_input;
  std::vector<CostPart> backward_weight;
  std::vector<CostPart> recompute;
  // Additional time of a chunk's last layer if its collectives would overlap the following layer
  // (backward: of the first layer, which would overlap the one before).
  std::vector<CostPart> forward_end;
  std::vector<CostPart> backward_end;
  PassRounds rounds;  // their exposed time is part of the costs above
  double hardware_flops = 0;
  double masked_flops = 0;   // the part that fused attention skips under a causal mask
  double forward_flops = 0;  // the forward pass's part of hardware_flops and masked_flops
  double forward_masked_flops = 0;

  BlockPass of_forward() { return {forward, rounds.forward, forward_end}; }
  BlockPass of_backward_input() { return {backward_input, rounds.backward_input, backward_end}; }
  BlockPass of_backward_weight() { return {backward_weight, rounds.backward_weight, backward_end}; }
};

// Adds to the part with this category and origin; zero time adds nothing.
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
  // Bytes of all rows at this width: as a tensor is stored, and as a linear layer's GEMM reads it.
  double activation_bytes(double width) const;
  double operand_bytes(double width) const;
  // Returns the cost of a collective in groups of this shape.
  InnerCollective collective(InnerGroup group, CollectiveKind kind, const GroupShape& shape,
                             double bytes) const;
  // The collectives and kernels that replace a collective over `bytes` of activations,
  // `element_bytes` each, with the compressor of its axis; the collective itself if there is none.
  std::vector<InnerCollective> exchanged(InnerGroup group, CollectiveKind kind,
                                         const GroupShape& shape, double bytes,
                                         double element_bytes) const;
  // The codec for messages in groups of this shape; empty if they are not compressed, or packing
  // does not make them smaller.
  std::optional<ActivationCodec> codec(InnerGroup group, const GroupShape& shape,
                                       double element_bytes) const;
  void add_kernels(std::initializer_list<Op> kernels, InnerCollective& collective) const;
  // Share by which kernels are slower while a collective runs.
  double slowdown() const { return job.calibration.overlap_slowdown.value; }
};

}  // namespace windtunnel
