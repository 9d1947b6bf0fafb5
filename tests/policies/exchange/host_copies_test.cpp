#include "policies/exchange/host_copies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "models/base/random.hpp"
#include "models/cost/offload/offload.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

HostCopies sum_of(const Segments& segments, HostCopies Segment::*which) {
  HostCopies sum;
  for (const Segment& segment : segments) {
    sum.weights += (segment.*which).weights;
    sum.gradients += (segment.*which).gradients;
    sum.activations += (segment.*which).activations;
  }
  return sum;
}

class CopiesOfAStage : public ::testing::Test {
 protected:
  void add(const Offload& offload, bool at_end = false) {
    job_.offload = std::make_shared<const Offload>(offload);
    const std::vector<ChunkCost> chunks = chunk_costs(job_);
    chunk_ = chunks.front();
    const auto tensors = stage_tensors(job_, 0, 0, job_.model.layers, chunk_);
    pieces_ = stage_pieces(job_, tensors, chunk_, 0, job_.model.layers);
    for (Segments* segments : traffic_.all()) segments->assign(1, Segment{});
    end_ = add_host_copies(job_, pieces_, {.at_end = at_end}, traffic_);
  }

  Job job_ = small_job(1, 1, 1);
  ChunkCost chunk_;
  std::vector<StagePiece> pieces_;
  ByAction<Segments> traffic_;
  HostCopies end_;
};

TEST_F(CopiesOfAStage, PiecesAreTheLayersOfTheStage) {
  Offload offload;
  offload.activations = MemoryTier::host;
  offload.activation_share = 0.5;
  add(offload);
  double share = 0;
  double parameters = 0;
  double activations = 0;
  for (const StagePiece& piece : pieces_) {
    share += piece.share;
    parameters += piece.dense + piece.experts;
    activations += piece.activation_bytes;
  }
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_NEAR(parameters, chunk_.parameters, 1);
  EXPECT_NEAR(activations, chunk_.offloaded_bytes, 1);
  // The backward pass reaches the first half of the layers last.
  EXPECT_EQ(pieces_.front().activation_bytes, 0);
  EXPECT_GT(pieces_.back().activation_bytes, 0);
}

TEST_F(CopiesOfAStage, ActivationsLeaveForwardAndComeBackward) {
  Offload offload;
  offload.activations = MemoryTier::host;
  add(offload);
  for (const Segments* forward : {&traffic_.first_forward, &traffic_.forward}) {
    EXPECT_NEAR(sum_of(*forward, &Segment::evicted).activations, chunk_.offloaded_bytes, 1);
    EXPECT_EQ(sum_of(*forward, &Segment::fetched).activations, 0);
    EXPECT_GT(forward->front().evicted.activations, 0);
  }
  for (const Segments* backward :
       {&traffic_.backward, &traffic_.backward_input, &traffic_.last_backward}) {
    EXPECT_NEAR(sum_of(*backward, &Segment::fetched).activations, chunk_.offloaded_bytes, 1);
  }
  EXPECT_EQ(sum_of(traffic_.backward_weight, &Segment::fetched).activations, 0);
}

TEST_F(CopiesOfAStage, GradientsLeaveOnceAStepUnlessTheyStayAway) {
  Offload offload;
  offload.optimizer = MemoryTier::host;
  add(offload);
  const double bytes = job_.software.reduce_bytes * chunk_.parameters;
  EXPECT_EQ(sum_of(traffic_.backward, &Segment::evicted).gradients, 0);
  EXPECT_NEAR(sum_of(traffic_.last_backward, &Segment::evicted).gradients, bytes, 1);
  EXPECT_NEAR(sum_of(traffic_.last_backward_weight, &Segment::evicted).gradients, bytes, 1);
  EXPECT_EQ(sum_of(traffic_.last_backward, &Segment::fetched).weights, 0);
  offload.gradients = MemoryTier::host;
  add(offload);
  EXPECT_NEAR(sum_of(traffic_.backward, &Segment::evicted).gradients, bytes, 1);
}

TEST_F(CopiesOfAStage, WhatIsSummedAtTheEndLeavesThen) {
  Offload offload;
  offload.optimizer = MemoryTier::host;
  offload.optimizer_share = 0.5;
  add(offload, true);
  EXPECT_EQ(sum_of(traffic_.last_backward, &Segment::evicted).gradients, 0);
  EXPECT_NEAR(end_.gradients, 0.5 * job_.software.reduce_bytes * chunk_.parameters, 1);
}

TEST_F(CopiesOfAStage, WeightsComeBeforeBothPasses) {
  Offload offload;
  offload.optimizer = offload.weights = MemoryTier::host;
  add(offload);
  for (const Segments* pass : {&traffic_.first_forward, &traffic_.forward, &traffic_.backward,
                               &traffic_.backward_input, &traffic_.last_backward}) {
    EXPECT_NEAR(sum_of(*pass, &Segment::fetched).weights, 2 * chunk_.parameters, 1);
  }
  EXPECT_EQ(sum_of(traffic_.backward_weight, &Segment::fetched).weights, 0);
}

// Gradients are copied to the host after the kernel that sums them, wherever in the action that is.
TEST(HostCopies, GradientsLeaveBehindTheirReduction) {
  Job job = small_job(1, 1, 4);
  job.layout.sharding = Sharding::zero2;
  Offload offload;
  offload.optimizer = MemoryTier::host;
  job.offload = std::make_shared<const Offload>(offload);
  const ChunkCost chunk = chunk_costs(job).front();
  const auto tensors = stage_tensors(job, 0, 0, job.model.layers, chunk);
  ByAction<Segments> traffic;
  for (Segments* segments : traffic.all()) segments->assign(1, Segment{});
  traffic.last_backward.front().reductions.resize(1);
  add_host_copies(job, stage_pieces(job, tensors, chunk, 0, job.model.layers), {}, traffic);
  EXPECT_GT(traffic.last_backward.back().evicted.gradients, 0);
  for (std::size_t i = 0; i + 1 < traffic.last_backward.size(); ++i) {
    EXPECT_EQ(traffic.last_backward[i].evicted.gradients, 0);
  }
}

}  // namespace
}  // namespace windtunnel
