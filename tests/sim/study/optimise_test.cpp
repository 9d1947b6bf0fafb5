#include "sim/study/optimise.hpp"

#include <gtest/gtest.h>

#include <string>

#include "models/cost/memory/memory.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {
namespace {

// What a software does of each layout, recomputation and schedule, as `run` reads it: sequence
// parallelism that hides tensor parallelism, graphs without a pipeline, sends that block under some
// schedules alone.
TEST(Optimise, EstimatesAreOfTheScenarioThatTheyAreNamedBy) {
  for (const char* software : {"megatron-core", "megatron-bridge-26.06", "megatron-lm-2023"}) {
    for (const char* model : {"llama3-8b", "mixtral-8x7b"}) {
      const ScenarioText scenario = {
          .file = "t.yaml",
          .text = "name: t\nmodel: " + std::string(model) +
                  "\ncluster: {nodes: 4, node: dgx-h100}\nlayout: {tp: 1, pp: 1}\n"
                  "batch: {global: 64, micro: 1, sequence: 4096}\nprecision: bf16\nsoftware: " +
                  software + "\n"};
      const Optimisation found =
          optimise(scenario, {{}},
                   {.layout = true, .schedule = true, .top = 12, .simulated = 0, .threads = 2});
      ASSERT_FALSE(found.best.empty());
      for (const RankedConfiguration& at : found.best) {
        std::string set;
        for (const auto& [key, value] : at.set) set += key + "=" + value + " ";
        SCOPED_TRACE(std::string(software) + ", " + model + ": " + set);
        const Case named = resolve_case(scenario, at.set);
        EXPECT_DOUBLE_EQ(at.estimated_s, iteration_step_s(named.job, *named.prepared));
        EXPECT_DOUBLE_EQ(at.memory_bytes, fullest_bytes(named.prepared->memory));
      }
    }
  }
}

}  // namespace
}  // namespace windtunnel
