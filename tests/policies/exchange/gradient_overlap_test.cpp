#include "policies/exchange/gradient_overlap.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

ChunkCost chunk_of(double parameters, double experts = 0) {
  ChunkCost chunk;
  chunk.parameters = parameters;
  chunk.expert_parameters = experts;
  return chunk;
}

double total(const std::vector<GradientBucket>& buckets, bool expert = false) {
  double sum = 0;
  for (const GradientBucket& bucket : buckets) {
    if (bucket.expert == expert) sum += bucket.parameters;
  }
  return sum;
}

TEST(GradientBuckets, CoverTheStageAndEndWithIt) {
  const Job job = small_job(2, 2, 2);
  for (const double bytes : {1.0, 1e6, 25e6, 1e12}) {
    for (const int stage : {0, 1}) {
      const auto tensors = stage_tensors(job, stage, 4 * stage, 4, chunk_of(3.3e7));
      const auto buckets = gradient_buckets(tensors, 4, bytes);
      ASSERT_FALSE(buckets.empty());
      EXPECT_NEAR(total(buckets), 3.3e7, 1e-6);
      EXPECT_EQ(buckets.back().ready_share, 1);
      for (std::size_t i = 1; i < buckets.size(); ++i) {
        EXPECT_GE(buckets[i].ready_share, buckets[i - 1].ready_share);
      }
    }
  }
}

TEST(GradientBuckets, CloseWhenTheyHoldTheBucketSize) {
  // A middle stage has one layer with h = 1024, ffn = 4096: mlp_out and mlp_in have 4.19 M
  // parameters each, projection 1.05 M, qkv 3.15 M, and two norms 2 x 1024 each.
  Job job = small_job(1, 4, 2);
  job.model.biases = false;
  const double parameters = job.model.layer_parameters();
  const auto tensors = stage_tensors(job, 1, 1, 1, chunk_of(parameters));
  const auto buckets = gradient_buckets(tensors, 4, 4 * 4.0 * 1024 * 1024);
  ASSERT_EQ(buckets.size(), 4U);  // mlp_out | mlp_in | norm + projection + qkv | norm
  EXPECT_DOUBLE_EQ(buckets[0].parameters, 4.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(buckets[0].ready_share, 1.0 / 3);
  EXPECT_DOUBLE_EQ(buckets[1].ready_share, 2.0 / 3);
  EXPECT_DOUBLE_EQ(buckets[2].ready_share, 1);
  EXPECT_EQ(buckets[3].parameters, 2 * 1024);
}

TEST(GradientBuckets, ATiedMatrixOnOneStageIsReadyWithTheEmbedding) {
  // One stage holds both ends: the shared matrix is counted once, and its gradient comes last.
  const Job job = small_job(1, 1, 2);
  const auto tensors = stage_tensors(job, 0, 0, 8, chunk_of(job.model.parameters()));
  const auto buckets = gradient_buckets(tensors, 4, 1);
  EXPECT_DOUBLE_EQ(buckets.back().parameters, double(job.model.vocabulary) * job.model.hidden);
  // The buckets exclude the head's matrix. A layer has four matrices and two norms with a bias
  // each; the rest are the final norm, positions and words.
  EXPECT_EQ(buckets.size(), 8U * 12 + 2 + 2);
  // The head's backward pass precedes the final norm's gradient.
  EXPECT_GT(buckets.front().ready_share, 0);
}

TEST(GradientBuckets, ExpertsHaveBucketsOfTheirOwn) {
  Job job = small_job(1, 2, 4);
  job.model.moe = {.experts = 8, .per_token = 2, .ffn_hidden = 2048, .dense_layers = 5};
  // The stage has layers 4 (dense) to 7.
  const auto tensors = stage_tensors(job, 1, 4, 4, chunk_of(9e7, 6e7));
  for (const StageTensor& tensor : tensors) {
    EXPECT_FALSE(tensor.layer == 4 && tensor.expert);
  }
  const auto buckets = gradient_buckets(tensors, 4, 8e6);
  EXPECT_NEAR(total(buckets, true), 6e7, 1e-6);
  EXPECT_NEAR(total(buckets, false), 3e7, 1e-6);
  EXPECT_EQ(buckets.back().ready_share, 1);
}

// The experts of layer 1 have their gradients before its attention has; layer 0 has no experts.
TEST(GradientBuckets, TheExpertsLastBucketIsReadyWithItsLastGradient) {
  std::vector<StageTensor> tensors(4);
  for (StageTensor& tensor : tensors) {
    tensor.parameters = 10;
    tensor.work = 0.25;
  }
  tensors[1].expert = true;
  const auto buckets = gradient_buckets(tensors, 1, 25);
  ASSERT_EQ(buckets.size(), 2);
  EXPECT_TRUE(buckets[0].expert);
  EXPECT_DOUBLE_EQ(buckets[0].ready_share, 0.5);
  EXPECT_EQ(buckets[1].ready_share, 1);
}

TEST(GradientBuckets, AStageWithoutParametersHasNone) {
  const auto tensors = stage_tensors(small_job(1, 4, 2), 1, 0, 0, chunk_of(0));
  EXPECT_TRUE(gradient_buckets(tensors, 4, 1e6).empty());
}

std::vector<StageTensor> four_tensors(double parameters) {
  return std::vector<StageTensor>(4, {.parameters = parameters, .work = 0.25});
}

std::vector<std::vector<int>> contents(const std::vector<GradientBucket>& buckets) {
  std::vector<std::vector<int>> tensors;
  for (const GradientBucket& bucket : buckets) tensors.push_back(bucket.tensors);
  return tensors;
}

// Gradients are ready at 1, 2, 3 and 4 s; each alone takes 2.5 s to reduce.
TEST(MergedBuckets, ByHand) {
  const std::vector<double> bytes(4, 1);
  const auto merged = [&](double parameters, double alpha_s) {
    const std::array<ReductionLaw, 2> laws = {{{alpha_s, 2}, {}}};
    return contents(merged_buckets(four_tensors(parameters), bytes, 4, laws));
  };
  using Buckets = std::vector<std::vector<int>>;
  // The first is reduced at once. The second must wait for the network until the third is ready; at
  // 3.5 s both are reduced, and the fourth would follow half a second later.
  EXPECT_EQ(merged(1e6, 0.5), (Buckets{{0}, {1, 2}, {3}}));
  EXPECT_EQ(merged(1e6, 0.6), (Buckets{{0}, {1, 2, 3}}));
  EXPECT_EQ(merged(100, 0), (Buckets{{0, 1, 2, 3}})) << "fewer than 8192 elements";
}

TEST(PriorityOrder, ByHand) {
  // Two partitions of a tensor are queued before a more urgent one arrives.
  const std::vector<Partition> partitions = {{0, 1.5, 1}, {0, 1.5, 1}, {1, 1.5, 1}};
  const auto order = [&](double credit) {
    std::vector<std::pair<int, double>> order;
    for (const ScheduledPartition& next : priority_order(partitions, credit)) {
      order.emplace_back(next.partition, next.issued_s);
    }
    return order;
  };
  using Order = std::vector<std::pair<int, double>>;
  EXPECT_EQ(order(1), (Order{{1, 0}, {2, 1.5}, {0, 3}}));
  EXPECT_EQ(order(0), order(1)) << "one is always under way";
  EXPECT_EQ(order(2), (Order{{1, 0}, {0, 0}, {2, 1.5}})) << "credit lets the urgent one wait";
}

TEST(TensorShares, AddUpToOneOverAllBuckets) {
  const std::vector<StageTensor> tensors = {
      {.parameters = 6}, {.parameters = 1}, {.parameters = 1}};
  const std::vector<GradientBucket> buckets = {{.parameters = 1, .tensors = {1}},
                                               {.parameters = 7, .tensors = {0, 2}}};
  EXPECT_EQ(tensor_shares(tensors, buckets), (std::vector<double>{1 / 8.0, 6 / 8.0, 1 / 8.0}));
}

TEST(TensorShares, CountWhatIsNotTrainedAndNeverDivideByNothing) {
  const std::vector<StageTensor> tensors = {{.parameters = 1, .frozen = 2}, {.frozen = 3}, {}};
  EXPECT_EQ(tensor_shares(tensors, {{.tensors = {0, 1}}}), (std::vector<double>{0.5, 0.5}));
  EXPECT_TRUE(tensor_shares(tensors, {{.tensors = {2}}}).empty());
  EXPECT_TRUE(tensor_shares(tensors, {}).empty());
}

}  // namespace
}  // namespace windtunnel
