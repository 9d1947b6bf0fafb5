#include "policies/filling/filling_cost.hpp"

#include <gtest/gtest.h>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/workload/filling.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

FillingWork pass_of(const TransformerSpec& model, int samples) {
  FillingWork work;
  FillingModel whose;
  whose.transformer = model;
  work.model = std::make_shared<const FillingModel>(whose);
  work.samples = samples;
  return work;
}

TEST(FillingCost, IsAsStated) {
  FillingWork work;
  work.piece_s = 0.25;
  work.pieces = 3;
  work.resident_bytes = 5;
  const FillingCost cost = filling_cost(small_job(1, 1, 1), work);
  EXPECT_EQ(cost.piece_s, 0.25);
  EXPECT_EQ(cost.pieces, 3);
  EXPECT_EQ(cost.resident_bytes, 5);
  EXPECT_EQ(cost.working_bytes, 0);
  EXPECT_EQ(cost.flops, 0);
}

// The filling takes as long as the forward pass of the same model on one GPU.
TEST(FillingCost, IsThatOfAForwardPassOnOneGpu) {
  Job one = small_job(1, 1, 1);
  one.batch.global = one.batch.micro = 2;
  one.model.sequence = one.batch.sequence;
  const ChunkCost chunk = chunk_costs(one).front();
  const Job wide = small_job(2, 2, 2);
  const FillingCost cost = filling_cost(wide, pass_of(one.model, 2));
  EXPECT_EQ(cost.pieces, one.model.layers);
  EXPECT_NEAR(cost.piece_s * cost.pieces, total_seconds(chunk.forward), 1e-12);
  EXPECT_NEAR(cost.resident_bytes, 2 * chunk.parameters, 1);
  EXPECT_GT(cost.flops, 2 * chunk.parameters * one.batch.sequence);
}

}  // namespace
}  // namespace windtunnel
