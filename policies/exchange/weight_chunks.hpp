// Weights in chunks of one size, which move between GPU and host as wholes (PatrickStar): which
// tensors they hold, and which of them the layers need when.
#pragma once

#include <vector>

#include "models/cost/offload/chunk_eviction.hpp"
#include "models/plan/job.hpp"
#include "policies/exchange/gradient_tensors.hpp"

namespace windtunnel {

// Chunks of a GPU that a piece of a stage uses: from `first` up to `end`.
struct ChunkRange {
  int first = 0;
  int end = 0;
};

// Bytes of a chunk: what the job states, or else the size, at least that of the largest tensor,
// whose chunks leave the least room unused. Throws Error about offload.chunk where the largest
// tensor does not fit into the stated size.
double chunk_bytes(const Job& job, const std::vector<StageTensor>& tensors);

// [piece] in the order of the backward pass. Tensors stand in the order of the forward pass, each
// whole in one chunk. Ranks that share the weights take turns: each holds every n-th chunk, n the
// number of ranks, and n consecutive chunks are gathered together. `piece_of`: [tensor] whose
// piece it belongs to.
std::vector<ChunkRange> packed_chunks(const Job& job, const std::vector<StageTensor>& tensors,
                                      const std::vector<int>& piece_of);

// For each piece of the forward, then backward, pass: which chunks it uses and how much GPU memory
// the warm-up iteration left free (Offload::Chunks); activations grow with the pieces.
std::vector<ChunkUse> chunk_uses(const Job& job, const std::vector<ChunkRange>& pieces);

}  // namespace windtunnel
