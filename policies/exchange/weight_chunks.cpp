#include "policies/exchange/weight_chunks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/cost/memory/tiers.hpp"

namespace windtunnel {
namespace {

// Copies of smaller chunks would be mostly latency. PatrickStar's chunks have 64 to 256 MiB.
constexpr double kLeastChunkBytes = 128 * kMebibyte;
// PatrickStar's search tries sizes from the least to kLargestSize times the least, in steps of 1 /
// kSizeSteps of the least.
constexpr int kSizeSteps = 16;
constexpr double kLargestSize = 3;

// Packs whole tensors in the order of the forward pass. Returns the chunk of each tensor.
std::vector<int> packed(const std::vector<StageTensor>& tensors, double of_weight, double bytes) {
  std::vector<int> chunks(tensors.size());
  int chunk = 0;
  double used = 0;
  for (std::size_t i = tensors.size(); i-- > 0;) {
    const double own_bytes = tensors[i].parameters * of_weight;
    if (used + own_bytes > bytes) {
      ++chunk;
      used = 0;
    }
    used += own_bytes;
    chunks[i] = chunk;
  }
  return chunks;
}

int sharing_ranks(const Job& job) {
  return static_cast<int>(state_shards(job, false).weights);
}

// Returns the chunk size that leaves the least room unused in all chunks together.
double thriftiest_bytes(const Job& job, const std::vector<StageTensor>& tensors, double least) {
  const double of_weight = weight_bytes_per_parameter(job);
  double best = least;
  double fewest = std::numeric_limits<double>::infinity();
  for (int step = 0; step <= (kLargestSize - 1) * kSizeSteps; ++step) {
    const double bytes = least * (1 + double(step) / kSizeSteps);
    const int groups = packed(tensors, of_weight, bytes).front() / sharing_ranks(job) + 1;
    if (groups * bytes >= fewest) continue;
    fewest = groups * bytes;
    best = bytes;
  }
  return best;
}

}  // namespace

double chunk_bytes(const Job& job, const std::vector<StageTensor>& tensors) {
  double largest = 0;
  for (const StageTensor& tensor : tensors) largest = std::max(largest, tensor.parameters);
  largest *= weight_bytes_per_parameter(job);
  const double stated = offload_of(job).chunk_bytes;
  if (stated == 0) return thriftiest_bytes(job, tensors, std::max(kLeastChunkBytes, largest));
  if (largest <= stated) return stated;
  throw Error::of_key("offload.chunk", "is {}, but the largest tensor has {}; give at least that",
                      format_memory(stated), format_memory(largest));
}

std::vector<ChunkRange> packed_chunks(const Job& job, const std::vector<StageTensor>& tensors,
                                      const std::vector<int>& piece_of) {
  const std::vector<int> chunks =
      packed(tensors, weight_bytes_per_parameter(job), chunk_bytes(job, tensors));
  std::vector<ChunkRange> pieces(std::ranges::max(piece_of) + 1, {-1, 0});
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    ChunkRange& range = pieces[piece_of[i]];
    const int own = chunks[i] / sharing_ranks(job);
    range.first = range.first < 0 ? own : std::min(range.first, own);
    range.end = std::max(range.end, own + 1);
  }
  return pieces;
}

std::vector<ChunkUse> chunk_uses(const Job& job, const std::vector<ChunkRange>& pieces) {
  const Offload::Chunks& chunks = offload_of(job).chunks;
  const int stay = chunks.with_optimizer;
  const int count = static_cast<int>(pieces.size());
  const double taken = stay * (chunks.bytes + optimizer_chunk_bytes(job));
  const auto use_of = [&](int piece) {
    const ChunkRange& range = pieces[piece];
    // The activations of this piece and all earlier ones are alive.
    const double alive = double(count - piece) / count;
    const double room = chunks.room_bytes + (1 - alive) * chunks.activation_bytes - taken;
    return ChunkUse{std::max(range.first, stay), std::max(range.end, stay),
                    static_cast<int>(std::max(0.0, std::floor(room / chunks.bytes)))};
  };
  std::vector<ChunkUse> uses;
  for (int piece = count; piece-- > 0;) uses.push_back(use_of(piece));
  for (int piece = 0; piece < count; ++piece) uses.push_back(use_of(piece));
  return uses;
}

}  // namespace windtunnel
