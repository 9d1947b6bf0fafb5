#include "models/volunteers/peer_work.hpp"

#include <gtest/gtest.h>

#include "models/cost/memory/memory.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

constexpr StageWork kWork{.compute_s = 0.1, .bytes = 1e6, .messages = 2, .state_bytes = 5e8};

TEST(PeerWork, APeerIsAsFastAsItsSlowestPart) {
  EXPECT_DOUBLE_EQ(peer_rate({.up_Bps = 1e8, .down_Bps = 1e8}, kWork), 10);
  EXPECT_DOUBLE_EQ(peer_rate({.speed = 0.5, .up_Bps = 1e8, .down_Bps = 1e8}, kWork), 5);
  EXPECT_DOUBLE_EQ(peer_rate({.up_Bps = 2e6, .down_Bps = 1e8}, kWork), 2);
  EXPECT_DOUBLE_EQ(peer_rate({.up_Bps = 1e8, .down_Bps = 4e6}, kWork), 4);
  EXPECT_EQ(peer_rate({.speed = 0, .up_Bps = 1e8, .down_Bps = 1e8}, kWork), 0);
}

TEST(PeerWork, LatencyIsHiddenByWorkThatWaitsAndOnlyByThat) {
  const PeerKind near{.up_Bps = 1e7, .down_Bps = 1e7};
  PeerKind far = near;
  far.latency_s = 0.2;
  EXPECT_DOUBLE_EQ(utilisation(near, kWork), 1);
  EXPECT_DOUBLE_EQ(utilisation(far, kWork), 1);
  EXPECT_DOUBLE_EQ(unhidden_utilisation(near, kWork), 0.1 / 0.2);
  EXPECT_DOUBLE_EQ(unhidden_utilisation(far, kWork), 0.1 / 0.6);
}

TEST(PeerWork, AStageComesOverTheLinkOfWhoTakesIt) {
  const PeerKind peer{.up_Bps = 1e6, .down_Bps = 1e7};
  EXPECT_DOUBLE_EQ(takeover_s({}, peer, kWork), 50);
  Volunteers told;
  told.move_s = 3;
  EXPECT_DOUBLE_EQ(takeover_s(told, peer, kWork), 3);
}

Job pipeline_job(int hidden) {
  Job job;
  job.model = small_model();
  job.model.hidden = hidden;
  job.model.ffn_hidden = 4 * hidden;
  job.cluster = small_cluster(4, 1);
  job.layout.pp = 4;
  job.batch = {.global = 8, .micro = 1, .sequence = 1024};
  job.calibration = ideal_calibration();
  return job;
}

TEST(PeerWork, InnerStagesReceiveTwiceAndTheEndsOnce) {
  const Job job = pipeline_job(1024);
  const std::vector<ChunkCost> chunks = chunk_costs(job);
  const std::vector<StageWork> works = stage_works(job, chunks);
  ASSERT_EQ(works.size(), 4U);
  const double message = 1024.0 * 1024 * 2;  // tokens x hidden in bf16
  EXPECT_DOUBLE_EQ(works[0].bytes, message);
  EXPECT_DOUBLE_EQ(works[1].bytes, 2 * message);
  EXPECT_DOUBLE_EQ(works[3].bytes, message);
  EXPECT_EQ(works[0].messages, 1);
  EXPECT_EQ(works[2].messages, 2);
  EXPECT_DOUBLE_EQ(works[1].state_bytes, chunks[1].parameters * 14);  // bf16, copy, two moments
  EXPECT_DOUBLE_EQ(works[1].gradient_bytes, chunks[1].parameters * 4);
}

// With short sequences compute grows with the cube of the layers' width, messages with its square:
// behind the same link, peers with wider layers spend more of their time computing.
TEST(PeerWork, WiderLayersKeepPeersBusier) {
  const PeerKind peer{.up_Bps = 62.5e6, .down_Bps = 62.5e6, .latency_s = 0.05};
  double before = 0;
  for (const int hidden : {512, 1024, 2048, 4096, 8192}) {
    const Job job = pipeline_job(hidden);
    const StageWork work = stage_works(job, chunk_costs(job))[1];
    const double now = unhidden_utilisation(peer, work);
    EXPECT_GT(now, 1.5 * before) << hidden;
    EXPECT_LE(now, utilisation(peer, work));
    before = now;
  }
}

}  // namespace
}  // namespace windtunnel
