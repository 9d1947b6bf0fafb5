// Weights in chunks of equal size, which move between GPU and host as a whole (PatrickStar): which
// tensors they hold, and which chunks each layer needs.
#pragma once

#include <vector>

#include "models/cost/offload/chunk_eviction.hpp"
#include "models/plan/job.hpp"
#include "policies/exchange/gradient_tensors.hpp"

namespace windtunnel {

// The chunks of a GPU that a piece of a stage uses: from `first` up to, excluding, `end`.
struct ChunkRange {
  int first = 0;
  int end = 0;
};

// Bytes of a chunk: set by the job, otherwise the size, at least that of the largest tensor, that
// wastes the least room. Throws Error about offload.chunk if the largest tensor does not fit into
// the given size.
double chunk_bytes(const Job& job, const std::vector<StageTensor>& tensors);

// Result: [piece] in the order of the backward pass. Tensors are packed in the order of the forward
// pass, each in a single chunk. If n ranks share weights, each holds every n-th chunk, and n
// consecutive chunks are gathered together. `piece_of`: [tensor] the piece that it belongs to.
std::vector<ChunkRange> packed_chunks(const Job& job, const std::vector<StageTensor>& tensors,
                                      const std::vector<int>& piece_of);

// For each piece of the forward, then backward, pass: which chunks it uses and how much GPU memory
// the warm-up iteration left free (Offload::Chunks); activations grow with the pieces.
std::vector<ChunkUse> chunk_uses(const Job& job, const std::vector<ChunkRange>& pieces);

}  // namespace windtunnel
