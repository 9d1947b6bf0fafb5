#include "policies/gradient_overlap.hpp"

#include <gtest/gtest.h>

#include "models/memory.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

using testing::small_job;

double total(const std::vector<GradientBucket>& buckets) {
  double sum = 0;
  for (const GradientBucket& bucket : buckets) sum += bucket.parameters;
  return sum;
}

TEST(GradientBuckets, CoverTheStageAndEndWithIt) {
  Job job = small_job(2, 2, 2);
  for (const double bytes : {1.0, 1e6, 25e6, 1e12}) {
    job.communication.bucket_bytes = bytes;
    for (const int stage : {0, 1}) {
      const auto buckets = gradient_buckets(job, stage, 4, 3.3e7);
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
  // A middle stage of one layer with h = 1024, ffn = 4096: mlp_out and mlp_in 4.19 M each,
  // projection 1.05 M, qkv 3.15 M parameters; 4 bytes each in mixed precision.
  Job job = small_job(1, 4, 2);
  const double bytes = gradient_bytes_per_parameter(job);
  const double parameters = 12.0 * 1024 * 1024;
  job.communication.bucket_bytes = 4.0 * 1024 * 1024 * bytes;
  const auto buckets = gradient_buckets(job, 1, 1, parameters);
  ASSERT_EQ(buckets.size(), 3U);  // mlp_out | mlp_in | projection + qkv
  EXPECT_DOUBLE_EQ(buckets[0].parameters, parameters / 3);
  EXPECT_DOUBLE_EQ(buckets[0].ready_share, 1.0 / 3);
  EXPECT_DOUBLE_EQ(buckets[1].ready_share, 2.0 / 3);
  EXPECT_DOUBLE_EQ(buckets[2].ready_share, 1);
}

TEST(GradientBuckets, ATiedMatrixOnOneStageIsReadyWithTheEmbedding) {
  // One stage holds both ends: the shared matrix is counted once, and its gradient comes last.
  Job job = small_job(1, 1, 2);
  job.communication.bucket_bytes = 1;
  const double layers = 8 * 12.0 * 1024 * 1024;
  const double parameters = layers + job.model.embedding_parameters();
  const auto buckets = gradient_buckets(job, 0, 8, parameters);
  EXPECT_NEAR(buckets.back().parameters, job.model.embedding_parameters(), 1);
  EXPECT_EQ(buckets.size(), 8U * 4 + 1);
}

TEST(GradientBuckets, AStageWithoutParametersHasNone) {
  EXPECT_TRUE(gradient_buckets(small_job(1, 4, 2), 1, 0, 0).empty());
}

}  // namespace
}  // namespace windtunnel
