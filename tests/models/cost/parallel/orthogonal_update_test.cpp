#include "models/cost/parallel/orthogonal_update.hpp"

#include <gtest/gtest.h>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/memory/memory.hpp"
#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

Job muon_job(Optimizer optimizer = Optimizer::muon, int dp = 1,
             Sharding sharding = Sharding::none) {
  Job job = test_job(llama3_8b(), {.dp = dp, .sharding = sharding},
                     {.global = 64, .micro = 1, .sequence = 4096});
  job.software.optimizer = optimizer;
  return job;
}

// Llama 3 8B has an embedding and a head of 128,256 rows each, and norms, which Adam updates.
TEST(OrthogonalUpdate, EmbeddingHeadAndVectorsHaveAdam) {
  const TransformerSpec model = llama3_8b();
  const double others = 2.0 * 128256 * 4096 + 65.0 * 4096;
  EXPECT_NEAR(muon_share(model), 1 - others / model.parameters(), 1e-12);
}

// Experts consist of matrices only; embedding and head belong to the rest.
TEST(OrthogonalUpdate, ExpertsAreMatricesAlone) {
  TransformerSpec model = llama3_8b();
  model.moe = {.experts = 8, .per_token = 2, .ffn_hidden = 14336};
  EXPECT_DOUBLE_EQ(muon_share(model, true), 1);
  EXPECT_LT(muon_share(model, false), muon_share(model));
  EXPECT_EQ(muon_share(llama3_8b(), true), 0);
  EXPECT_EQ(muon_share(llama3_8b(), false), muon_share(llama3_8b()));
}

// Five Newton-Schulz steps take 4 s^2 l + 2 s^3 operations each. A GPU that reaches 60 % (0.8 x
// 0.75) of 1,000 TFLOP/s needs no less time than that, and little more for matrices of thousands of
// rows.
TEST(OrthogonalUpdate, OperationsAreThoseOfTheIteration) {
  const auto steps = [](double s, double l) { return 5 * (4 * s * s * l + 2 * s * s * s); };
  const double layer = steps(4096, 4096) * 2 + 2 * steps(1024, 4096) + 3 * steps(4096, 14336);
  const Job job = muon_job();
  const double least_s = 32 * layer / (0.8 * 0.75 * 1000e12);
  const double seconds = orthogonal_cost(job.model.parameters(), job).seconds;
  EXPECT_GT(seconds, least_s);
  EXPECT_LT(seconds, 1.4 * least_s);
}

TEST(OrthogonalUpdate, ReplicasThatShareTheStateShareTheMatrices) {
  const Job alone = muon_job();
  const double parameters = alone.model.parameters();
  const double whole_s = orthogonal_cost(parameters, alone).seconds;
  const Job shared = muon_job(Optimizer::muon, 8, Sharding::zero1);
  EXPECT_NEAR(orthogonal_cost(parameters / 8, shared).seconds, whole_s / 8, 1e-9);
  // With more ranks than matrices, the rank with the largest matrix takes longest.
  const double least_s = orthogonal_cost(parameters / 1e6, shared).seconds;
  EXPECT_GT(least_s, whole_s / 1e6);
  EXPECT_EQ(orthogonal_cost(parameters / 1e7, shared).seconds, least_s);
}

TEST(OrthogonalUpdate, AStepTakesLongerThanMomentumAndHasOneMomentOfAMatrix) {
  const Job muon = muon_job();
  const Job momentum = muon_job(Optimizer::momentum);
  const Job adam = muon_job(Optimizer::adam);
  const double parameters = muon.model.parameters();
  const auto step_s = [&](const Job& job) { return update_cost(parameters, job).front().seconds; };
  EXPECT_GT(step_s(muon), step_s(momentum) + orthogonal_cost(parameters, muon).seconds * 0.99);
  const double of_adam = optimizer_bytes_per_parameter(adam);
  EXPECT_DOUBLE_EQ(optimizer_bytes_per_parameter(muon), of_adam - 4 * muon_share(muon.model));
}

}  // namespace
}  // namespace windtunnel
