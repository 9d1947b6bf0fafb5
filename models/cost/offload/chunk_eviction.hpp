// Chunks of training state stay on a GPU while there is room, and move to its host and back as the
// passes need them (PatrickStar: Fang et al. 2021, arXiv 2108.05818). The chunk that is needed last
// is evicted first (Belady 1966): a warm-up iteration records when each is used and how much room
// activations leave.
#pragma once

#include <vector>

namespace windtunnel {

// A moment of an iteration: chunks from `first` to `end` are used, and `room` chunks fit on the
// GPU.
struct ChunkUse {
  int first = 0;
  int end = 0;
  int room = 0;
};

// Numbers of chunks moved at a moment: fetched for use; evicted but needed again later on the GPU;
// and moved out for good after use, because the host needs them.
struct ChunkMoves {
  int fetched = 0;
  int evicted = 0;
  int done = 0;
};

// Result: [moment]. All chunks are on the host before the first moment. At each moment the chunks
// of the previous one are still in use. Used chunks are placed even without room; the caller must
// prevent that.
std::vector<ChunkMoves> chunk_moves(const std::vector<ChunkUse>& uses);

}  // namespace windtunnel
