// No public recipe that ran, with the layout of its software, may be refused for memory. Rows name
// the software of their source; scenarios state its settings.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "models/base/units.hpp"
#include "models/cost/memory/memory.hpp"
#include "scenarios/language/case.hpp"
#include "traces/rows/training_runs.hpp"
#include "validate/accuracy/runs/run_job.hpp"

namespace windtunnel {
namespace {

constexpr const char* kRows = WINDTUNNEL_SOURCE_DIR "/tests/data/recipes_that_ran.csv";
constexpr const char* kScenarios = WINDTUNNEL_SOURCE_DIR "/tests/data/recipes_that_ran";

std::vector<std::string> scenarios() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kScenarios)) {
    files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

// Returns the first word of a source, so that all sources of one company count as one.
std::string project_of(const TrainingRun& run) {
  return run.source.substr(0, run.source.find_first_of(" ,"));
}

TEST(RecipesThatRan, NoRowIsRefusedForMemory) {
  std::set<std::string> projects;
  for (const TrainingRun& run : read_training_runs(kRows).runs) {
    SCOPED_TRACE(fmt::format("{}, {} on {}", run.source, run.model, run.gpu_type));
    projects.insert(project_of(run));
    const Job job = job_of(run).job;
    const RunPrediction prediction = predict(job);
    EXPECT_TRUE(prediction.fits) << gpu_memory_excess(prediction.memory, job);
  }
  EXPECT_GE(projects.size() + scenarios().size(), 24U);
}

TEST(RecipesThatRan, NoScenarioIsRefusedForMemory) {
  for (const std::string& file : scenarios()) {
    SCOPED_TRACE(file);
    const Case the_case = load_case(file);
    EXPECT_EQ(gpu_memory_excess(the_case.prepared->memory, the_case.job), "");
  }
}

// Modules in the table's column of recomputation must reach the job.
TEST(RecipesThatRan, ModulesAreRead) {
  const TrainingRuns table = read_training_runs(kRows);
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
