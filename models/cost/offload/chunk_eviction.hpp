// Chunks of training state that lie on a GPU while there is room, and move to its host and back as
// the passes need them (PatrickStar: Fang et al. 2021, arXiv 2108.05818). What has to go is what is
// needed again last (Belady 1966): a warm-up iteration has shown when each is used and how much
// room activations leave.
#pragma once

#include <vector>

namespace windtunnel {

// A moment of an iteration: the chunks from `first` up to `end` are used, and `room` of them have
// their place on the GPU.
struct ChunkUse {
  int first = 0;
  int end = 0;
  int room = 0;
};

// Of a moment, in chunks: what comes so that it can be used, what leaves for it and will be used
// again, and what leaves behind it for good, which the host needs then.
struct ChunkMoves {
  int fetched = 0;
  int evicted = 0;
  int done = 0;
};

// [moment]. All chunks are on the host before the first moment. At each, those of the moment before
// are in use still. Where even the used ones have no room they are taken to have it: the caller
// sees to that.
std::vector<ChunkMoves> chunk_moves(const std::vector<ChunkUse>& uses);

}  // namespace windtunnel
