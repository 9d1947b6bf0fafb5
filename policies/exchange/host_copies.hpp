// Copies that Job::offload adds to the actions of a stage. Weights are fetched from the host before
// their layer runs; gradients and activations are evicted after it; activations are fetched again
// before its backward.
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "policies/exchange/gradient_tensors.hpp"
#include "policies/exchange/segments.hpp"
#include "policies/exchange/weight_chunks.hpp"

namespace windtunnel {

// A layer with weights in a stage, and the layers without weights after it. The first piece
// includes the embedding, the last one the loss head.
struct StagePiece {
  double share = 0;  // of the time of the stage's passes
  double dense = 0;  // parameters on this GPU, before sharding
  double experts = 0;
  double frozen = 0;  // frozen weights, in the unit of ChunkCost::frozen_parameters
  double frozen_experts = 0;
  double activation_bytes = 0;  // activations of a micro-batch that leave the GPU
  ChunkRange chunks = {};       // the chunks that hold its weights (OffloadPlacement::chunks)
};

// Returns the pieces in the order of the backward pass. Their shares add up to 1. `tensors`:
// stage_tensors().
std::vector<StagePiece> stage_pieces(const Job& job, const std::vector<StageTensor>& tensors,
                                     const ChunkCost& chunk, int first_layer, int layers);

struct GradientArrival {
  bool at_end = false;  // gradients leave after all actions, because they are reduced only then
  // Gradients leave after the gathers of the next step: Segment::on_host_parameters.
  bool in_next_step = false;
};
// Adds copies to all actions. Returns those that come after all actions.
HostCopies add_host_copies(const Job& job, const std::vector<StagePiece>& pieces,
                           GradientArrival arrival, ByAction<Segments>& traffic);

}  // namespace windtunnel
