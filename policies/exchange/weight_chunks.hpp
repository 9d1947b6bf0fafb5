// Weights in chunks of equal size, which move between GPU and host as a whole (PatrickStar): which
// tensors a chunk holds, and which chunks each layer needs.
#pragma once

#include <vector>

#include "models/cost/offload/chunk_eviction.hpp"
#include "models/plan/job.hpp"
#include "policies/exchange/gradient_tensors.hpp"

namespace windtunnel {

// The chunks of a GPU that a piece of a stage uses: from `first` to `end` - 1.
struct ChunkRange {
  int first = 0;
  int end = 0;
};

// Returns the bytes of a chunk: those that the job sets, otherwise the size that wastes the least
// room and fits the largest tensor. Throws Error about offload.chunk if the largest tensor does not
// fit into the given size.
double chunk_bytes(const Job& job, const std::vector<StageTensor>& tensors);

// Returns the chunks of each piece, in the order of the backward pass. Tensors are packed in the
// order of the forward pass, each into a single chunk. If n ranks share weights, each holds every
// n-th chunk, and n consecutive chunks are gathered together. `piece_of`: [tensor] its piece.
std::vector<ChunkRange> packed_chunks(const Job& job, const std::vector<StageTensor>& tensors,
                                      const std::vector<int>& piece_of);

// Returns for each piece of the forward pass, and then of the backward pass, which chunks it uses
// and how much GPU memory the warm-up iteration left free (Offload::Chunks). In the forward pass
// activations grow with each piece.
std::vector<ChunkUse> chunk_uses(const Job& job, const std::vector<ChunkRange>& pieces);

}  // namespace windtunnel
