// Public recipes that ran, one row each, as their software lays them out: none is refused for
// memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "models/base/units.hpp"
#include "models/cost/memory/memory.hpp"
#include "traces/rows/training_runs.hpp"
#include "validate/accuracy/runs/run_job.hpp"

namespace windtunnel {
namespace {

TEST(RecipesThatRan, NoneIsRefusedForMemory) {
  const TrainingRuns table =
      read_training_runs(WINDTUNNEL_SOURCE_DIR "/tests/data/recipes_that_ran.csv");
  EXPECT_GE(table.runs.size(), 20U);
  for (const TrainingRun& run : table.runs) {
    SCOPED_TRACE(fmt::format("{}, {} on {}", run.source, run.model, run.gpu_type));
    const Job job = job_of(run).job;
    const RunPrediction prediction = predict(job);
    EXPECT_TRUE(prediction.fits) << gpu_memory_excess(prediction.memory, job);
  }
}

// Modules in the table's column of recomputation are those of the job.
TEST(RecipesThatRan, ModulesAreRead) {
  const TrainingRuns table =
      read_training_runs(WINDTUNNEL_SOURCE_DIR "/tests/data/recipes_that_ran.csv");
  using enum RecomputeModule;
  int met = 0;
  for (const TrainingRun& run : table.runs) {
    if (run.recompute != "layernorm moe_act") continue;
    EXPECT_EQ(job_of(run).job.recompute, Recompute::of(layernorm, moe_act));
    ++met;
  }
  EXPECT_EQ(met, 1);
}

}  // namespace
}  // namespace windtunnel
