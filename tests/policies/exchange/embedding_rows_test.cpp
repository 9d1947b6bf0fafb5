// Iterations that exchange an embedding's gradient as rows (EmbRace).
#include <gtest/gtest.h>

#include <algorithm>

#include "models/results/iteration_report.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/evaluation/plan_evaluation.hpp"
#include "policies/exchange/compressed_reductions.hpp"
#include "policies/iteration.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

// A language model whose embedding holds 95 % of the weights, with few tokens per step and a slow
// network.
Job language_model(EmbeddingExchange embeddings, GradientOverlap overlap) {
  Job job = small_job(1, 1, 16);
  job.model.layers = 2;
  job.model.vocabulary = 800000;
  job.model.tied_embeddings = false;
  job.layout.sharding = Sharding::none;
  job.batch.micro = 1;
  job.batch.global = 16;
  job.batch.sequence = 128;
  job.cluster.node.nic_Bps.value = 1.25e9;
  job.communication.fidelity = Fidelity::closed;
  job.communication.overlap = overlap;
  job.communication.embeddings = embeddings;
  return job;
}

double step_s(const Job& job) {
  const PreparedIteration prepared = prepare_iteration(job);
  const Plan plan = iteration_plan(job, prepared);
  validate_plan(plan);
  const double seconds = iteration_s(job, plan, evaluate_plan(plan, job.cluster));
  EXPECT_NEAR(estimate_iteration(job, prepared).step_s, seconds, 1e-9 * seconds);
  return seconds;
}

TEST(EmbeddingRows, AreExchangedFasterThanTheTableIsReduced) {
  for (const GradientOverlap overlap :
       {GradientOverlap::none, GradientOverlap::bucketed, GradientOverlap::priority}) {
    const double dense_s = step_s(language_model(EmbeddingExchange::dense, overlap));
    const double gathered_s = step_s(language_model(EmbeddingExchange::all_gather, overlap));
    const double exchanged_s = step_s(language_model(EmbeddingExchange::all_to_all, overlap));
    EXPECT_LT(exchanged_s, gathered_s);
    EXPECT_LT(gathered_s, dense_s);
    // EmbRace reports up to 30.66 times the speed of the worst baseline. Here half of the table
    // weights belong to the loss head, whose gradient stays dense.
    EXPECT_GT(dense_s / exchanged_s, 1.5);
    EXPECT_LT(dense_s / exchanged_s, 30.66);
  }
}

int all_reduces(const Job& job) {
  const PreparedIteration prepared = prepare_iteration(job);
  const Plan plan = iteration_plan(job, prepared);
  return static_cast<int>(std::ranges::count_if(plan.classes.front().tasks, [](const Task& task) {
    return task.kind == TaskKind::collective && task.collective == CollectiveKind::all_reduce;
  }));
}

// PyTorch DDP's buckets hold 25 MB of the layers' gradients, however large the table is.
TEST(EmbeddingRows, LeaveTheBucketsOfTheLayersAsTheyAre) {
  Job job = language_model(EmbeddingExchange::all_gather, GradientOverlap::bucketed);
  job.model.layers = 8;
  const int beside_large = all_reduces(job);
  job.model.vocabulary = 20000;
  EXPECT_EQ(beside_large, all_reduces(job));
  EXPECT_GT(beside_large, 4);
}

std::string refusal(const Job& job) {
  return error_of([&] { check_conflicts(exchange_conflicts(), job); });
}

TEST(EmbeddingRows, GoWithDearAndNotWithTiedEmbeddings) {
  Job job = language_model(EmbeddingExchange::all_to_all, GradientOverlap::dear);
  for (const Sharding sharding : {Sharding::none, Sharding::zero1}) {
    job.layout.sharding = sharding;
    EXPECT_EQ(refusal(job), "no error");
  }
  job.model.tied_embeddings = true;
  EXPECT_TRUE(refusal(job).starts_with("communication.embeddings: with model.tied_embeddings"));
}

}  // namespace
}  // namespace windtunnel
