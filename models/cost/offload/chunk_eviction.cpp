#include "models/cost/offload/chunk_eviction.hpp"

#include <algorithm>
#include <limits>

namespace windtunnel {
namespace {

constexpr int kNever = std::numeric_limits<int>::max();

bool uses_chunk(const ChunkUse& use, int chunk) {
  return use.first <= chunk && chunk < use.end;
}

// [chunk] The moments at which it is used, in order.
std::vector<std::vector<int>> moments_of_chunks(const std::vector<ChunkUse>& uses) {
  int chunks = 0;
  for (const ChunkUse& use : uses) chunks = std::max(chunks, use.end);
  std::vector<std::vector<int>> moments(chunks);
  for (int at = 0; at < std::ssize(uses); ++at) {
    for (int chunk = uses[at].first; chunk < uses[at].end; ++chunk) moments[chunk].push_back(at);
  }
  return moments;
}

}  // namespace

std::vector<ChunkMoves> chunk_moves(const std::vector<ChunkUse>& uses) {
  const std::vector<std::vector<int>> moments = moments_of_chunks(uses);
  const auto next_use = [&](int chunk, int after) {
    const auto next = std::ranges::upper_bound(moments[chunk], after);
    return next == moments[chunk].end() ? kNever : *next;
  };
  std::vector<ChunkMoves> moves(uses.size());
  std::vector<int> here;  // chunks on the GPU
  for (int at = 0; at < std::ssize(uses); ++at) {
    const ChunkUse& use = uses[at];
    for (int chunk = use.first; chunk < use.end; ++chunk) {
      if (std::ranges::find(here, chunk) != here.end()) continue;
      here.push_back(chunk);
      ++moves[at].fetched;
    }
    while (std::ssize(here) > use.room) {
      auto last = here.end();
      for (auto it = here.begin(); it != here.end(); ++it) {
        if (uses_chunk(use, *it) || (at > 0 && uses_chunk(uses[at - 1], *it))) continue;
        if (last == here.end() || next_use(*it, at) > next_use(*last, at)) last = it;
      }
      if (last == here.end()) break;
      here.erase(last);
      ++moves[at].evicted;
    }
    std::erase_if(
        here, [&](int chunk) { return !uses_chunk(use, chunk) && next_use(chunk, at) == kNever; });
  }
  for (const std::vector<int>& of_chunk : moments) {
    if (!of_chunk.empty()) ++moves[of_chunk.back()].done;
  }
  return moves;
}

}  // namespace windtunnel
