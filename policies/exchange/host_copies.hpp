// What Job::offload puts beside the actions of a stage: weights that come from the host before the
// layer that needs them, gradients and activations that leave when their layer is through, and
// activations that come back before its backward.
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "policies/exchange/gradient_tensors.hpp"
#include "policies/exchange/segments.hpp"
#include "policies/exchange/weight_chunks.hpp"

namespace windtunnel {

// A layer of a stage with weights, and what follows it until the next; the embedding goes with the
// first, the loss head with the last.
struct StagePiece {
  double share = 0;  // of the stage's passes
  double dense = 0;  // parameters on this GPU, before sharding
  double experts = 0;
  double frozen = 0;  // weights alone, counted by their bytes
  double frozen_experts = 0;
  double activation_bytes = 0;  // bytes of activations that leave the GPU, per micro-batch
  ChunkRange chunks = {};       // the chunks that hold its weights (OffloadPlacement::chunks)
};

// In the order of the backward pass; their shares add up to 1. `tensors`: stage_tensors().
std::vector<StagePiece> stage_pieces(const Job& job, const std::vector<StageTensor>& tensors,
                                     const ChunkCost& chunk, int first_layer, int layers);

struct GradientArrival {
  bool at_end = false;  // they are summed behind all actions, and leave then
  // They leave behind the gathers of the next one: Segment::on_host_parameters.
  bool in_next_step = false;
};
// Adds them to all actions. Returns what leaves at the end.
HostCopies add_host_copies(const Job& job, const std::vector<StagePiece>& pieces,
                           GradientArrival arrival, ByAction<Segments>& traffic);

}  // namespace windtunnel
