#include "policies/exchange/data_parallel.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "policies/schedules/schedules.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

struct Built {
  explicit Built(const Job& the_job, double slowdown = 0)
      : job(the_job),
        schedule(generate_schedule(job.schedule.name, job.layout.pp,
                                   microbatches(job.layout, job.batch), job.layout.vpp)),
        chunks(chunk_costs(job)),
        data(job, schedule, chunks, slowdown) {}

  const Job job;
  const Schedule schedule;
  const std::vector<ChunkCost> chunks;
  const DataParallel data;
};

std::vector<const Segments*> all_pieces(const DataParallel& data, int stage) {
  const StageTraffic& traffic = data.stage(stage);
  return {&data.first_forward(stage),   &traffic.forward,         &traffic.backward,
          &traffic.backward_input,      &traffic.backward_weight, &traffic.last_backward,
          &traffic.last_backward_weight};
}

Job sharded_job(Sharding sharding, GradientOverlap overlap, int pp = 2) {
  Job job = small_job(1, pp, 4);
  job.layout.sharding = sharding;
  job.communication.overlap = overlap;
  job.communication.bucket_bytes = 5e6;
  return job;
}

TEST(DataParallel, PiecesMakeTheWholeAction) {
  for (const auto overlap : {GradientOverlap::none, GradientOverlap::bucketed}) {
    for (const auto sharding :
         {Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3}) {
      const Built built(sharded_job(sharding, overlap));
      for (int stage = 0; stage < built.job.layout.stages(); ++stage) {
        for (const Segments* segments : all_pieces(built.data, stage)) {
          double share = 0;
          for (const Segment& segment : *segments) {
            EXPECT_GE(segment.share, 0);
            EXPECT_EQ(segment.slowdown, 1);
            share += segment.share;
          }
          EXPECT_NEAR(share, 1, 1e-9);
        }
      }
    }
  }
}

TEST(DataParallel, Zero3CutsByLayer) {
  // Stage 0 has the embedding and four layers, stage 1 four layers and the head.
  const Built built(sharded_job(Sharding::zero3, GradientOverlap::bucketed));
  EXPECT_EQ(built.data.stage(0).forward.size(), 4U);
  EXPECT_EQ(built.data.stage(1).forward.size(), 5U);
  EXPECT_EQ(built.data.stage(0).forward.front().gathers.size(), 2U) << "embedding and layer";
  EXPECT_TRUE(built.data.stage(1).forward.back().gathers.empty()) << "the head's came first";
  EXPECT_EQ(built.data.stage(1).backward.back().reductions.size(), 2U) << "the head's come last";
}

std::vector<ReplicaAxis> axes_of(const Segments& segments) {
  std::vector<ReplicaAxis> axes;
  for (const Segment& segment : segments) {
    for (const auto* transfers : {&segment.gathers, &segment.reductions}) {
      for (const Transfer& transfer : *transfers) axes.push_back(transfer.axis);
    }
  }
  std::ranges::sort(axes);
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

TEST(DataParallel, LevelsMeetTheWholeShardOnceAnIteration) {
  using enum ReplicaAxis;
  using Axes = std::vector<ReplicaAxis>;
  Job job = sharded_job(Sharding::zero3, GradientOverlap::bucketed, 1);
  job.layout.weight_ranks = 1;
  job.layout.gradient_ranks = 2;
  const Built levels(job);
  const StageTraffic& traffic = levels.data.stage(0);
  EXPECT_EQ(axes_of(traffic.first_forward), Axes{weight_peers});
  EXPECT_EQ(axes_of(traffic.forward), Axes{}) << "each rank has all weights";
  EXPECT_EQ(axes_of(traffic.backward), Axes{gradient_part});
  EXPECT_EQ(axes_of(traffic.last_backward), (Axes{gradient_part, gradient_peers}));
  EXPECT_EQ(axes_of(traffic.last_backward_weight), (Axes{gradient_part, gradient_peers}));
  job.layout.weight_ranks = job.layout.gradient_ranks = 0;
  job.layout.secondary_ranks = 2;
  const Built copies(job);
  EXPECT_EQ(axes_of(copies.data.stage(0).forward), Axes{dense_shard});
  EXPECT_EQ(axes_of(copies.data.stage(0).backward_input), Axes{secondary_part});
  EXPECT_EQ(axes_of(copies.data.stage(0).last_backward), (Axes{dense_shard, secondary_part}));
}

TEST(DataParallel, EqualStagesShareTheirTraffic) {
  const Built built(sharded_job(Sharding::zero1, GradientOverlap::bucketed, 4));
  EXPECT_EQ(built.data.traffic_number(1), built.data.traffic_number(2));
  EXPECT_NE(built.data.traffic_number(0), built.data.traffic_number(1));
  EXPECT_NE(built.data.traffic_number(2), built.data.traffic_number(3));
}

// While a collective runs, kernels do 1 / (1 + s) of their work.
TEST(DataParallel, CollectivesBesideAPieceStretchIt) {
  const double s = 0.25;
  for (const auto sharding : {Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3}) {
    const Built built(sharded_job(sharding, GradientOverlap::bucketed), s);
    double most = 1;
    for (int stage = 0; stage < 2; ++stage) {
      for (const Segments* segments : all_pieces(built.data, stage)) {
        for (const Segment& segment : *segments) {
          EXPECT_GE(segment.slowdown, 1);
          EXPECT_LE(segment.slowdown, 1 + s + 1e-12);
          most = std::max(most, segment.slowdown);
        }
      }
    }
    EXPECT_GT(most, 1.01);
  }
}

// In the last backward pass the first bucket's reduction runs beside the second segment, either all
// of it or for as long as the segment lasts.
TEST(DataParallel, TheStretchOfTheSecondPieceByHand) {
  const double s = 0.25;
  for (const double nic_Bps : {25e9, 2500e9}) {
    Job job = sharded_job(Sharding::none, GradientOverlap::bucketed);
    job.cluster.node.nic_Bps = spec(nic_Bps);
    const Built built(job, s);
    const ChunkCost& chunk = built.chunks[1];
    const double backward_s =
        total_seconds(chunk.backward_input) + total_seconds(chunk.backward_weight);
    const Segments& segments = built.data.stage(1).last_backward;
    ASSERT_GE(segments.size(), 2U);
    const double beside_s = segments[0].reductions.front().seconds;
    const double work_s = segments[1].share * backward_s;
    const double longer_s = std::min(work_s * (1 + s), work_s + beside_s * s / (1 + s));
    EXPECT_NEAR(segments[1].slowdown, longer_s / work_s, 1e-12);
    EXPECT_EQ(segments[0].slowdown, 1);
  }
}

}  // namespace
}  // namespace windtunnel
