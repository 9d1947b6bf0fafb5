#include "policies/exchange/weight_chunks.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "models/cost/offload/offload.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

Job chunked(double bytes, int dp) {
  Job job = small_job(1, 1, dp);
  job.layout.sharding = Sharding::zero3;
  auto offload = std::make_shared<Offload>();
  offload->placement = OffloadPlacement::chunks;
  offload->chunk_bytes = bytes;
  job.offload = offload;
  return job;
}

// Three layers with this many parameters each, in two tensors, in the order of the backward pass:
// layer 2, 1, 0.
std::vector<StageTensor> three_layers(double parameters) {
  std::vector<StageTensor> tensors;
  for (int i = 0; i < 6; ++i) {
    tensors.push_back({.parameters = parameters / 2, .work = 1.0 / 6, .layer = 2 - i / 2});
  }
  return tensors;
}

const std::vector<int> kPieces = {0, 0, 1, 1, 2, 2};

// A chunk holds three tensors, so that the second layer is in both chunks.
TEST(WeightChunks, HoldTensorsInTheOrderOfTheForwardPass) {
  const std::vector<ChunkRange> pieces =
      packed_chunks(chunked(3 * 2e6, 1), three_layers(2e6), kPieces);
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[2].first, 0);
  EXPECT_EQ(pieces[2].end, 1);
  EXPECT_EQ(pieces[1].first, 0);
  EXPECT_EQ(pieces[1].end, 2);
  EXPECT_EQ(pieces[0].first, 1);
  EXPECT_EQ(pieces[0].end, 2);
}

// A tensor is never split: a chunk of one and a half tensors stays a third empty.
TEST(WeightChunks, DoNotCutTensors) {
  const std::vector<ChunkRange> pieces =
      packed_chunks(chunked(1.5 * 2e6, 1), three_layers(2e6), kPieces);
  for (int piece = 0; piece < 3; ++piece) {
    EXPECT_EQ(pieces[piece].first, 2 * (2 - piece));
    EXPECT_EQ(pieces[piece].end, 2 * (2 - piece) + 2);
  }
}

// Consecutive chunks are dealt out to the ranks that share the weights, one each.
TEST(WeightChunks, AreSharedByRanks) {
  const std::vector<ChunkRange> pieces = packed_chunks(chunked(2e6, 2), three_layers(2e6), kPieces);
  for (int piece = 0; piece < 3; ++piece) {
    EXPECT_EQ(pieces[piece].first, 2 - piece);
    EXPECT_EQ(pieces[piece].end, 3 - piece);
  }
}

TEST(WeightChunks, HoldTheLargestTensor) {
  EXPECT_EQ(chunk_bytes(chunked(0, 1), three_layers(2e6)), 128 * 1024 * 1024);
  EXPECT_EQ(chunk_bytes(chunked(3e6, 1), three_layers(2e6)), 3e6);
  EXPECT_EQ(error_of([] { chunk_bytes(chunked(1e6, 1), three_layers(2e6)); }),
            "offload.chunk is 977 KiB, but the largest tensor has 1.91 MiB; give at least that");
}

// The chunk size, at least that of the largest tensor, is the one that wastes the least room: six
// tensors of 2 GB, each preceded by one of 0.5 GB, fill six chunks of 2.5 GB.
TEST(WeightChunks, TakeTheSizeThatIsFilledBest) {
  EXPECT_EQ(chunk_bytes(chunked(0, 1), three_layers(2e9)), 2e9);
  std::vector<StageTensor> tensors;
  for (const StageTensor& tensor : three_layers(2e9)) {
    tensors.push_back(tensor);
    tensors.push_back({.parameters = 0.25e9, .layer = tensor.layer});
  }
  EXPECT_EQ(chunk_bytes(chunked(0, 1), tensors), 2.5e9);
}

// Room for chunks grows by the activations that later layers do not hold yet, or no longer hold.
TEST(WeightChunks, TheRoomFollowsActivations) {
  Job job = chunked(2e6, 1);
  auto offload = std::make_shared<Offload>(offload_of(job));
  offload->chunks = {.bytes = 2e6,
                     .count = 6,
                     .at_once = 4,
                     .room_bytes = 8e6,
                     .activation_bytes = 6e6,
                     .with_optimizer = 0};
  job.offload = offload;
  const std::vector<ChunkUse> uses =
      chunk_uses(job, packed_chunks(job, three_layers(2e6), kPieces));
  ASSERT_EQ(uses.size(), 6U);
  const int rooms[] = {6, 5, 4, 4, 5, 6};
  for (int at = 0; at < 6; ++at) {
    EXPECT_EQ(uses[at].room, rooms[at]) << at;
    const int layer = at < 3 ? at : 5 - at;
    EXPECT_EQ(uses[at].first, 2 * layer);
    EXPECT_EQ(uses[at].end, 2 * layer + 2);
  }
}

}  // namespace
}  // namespace windtunnel
