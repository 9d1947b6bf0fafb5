#include "scenarios/language/library/facts/measured_runs.hpp"

#include <gtest/gtest.h>

#include <set>

#include "scenarios/language/library/library.hpp"

namespace windtunnel {
namespace {

TEST(MeasuredRuns, AreOfTheLibrarysGpus) {
  EXPECT_GE(measured_runs().size(), 40);
  int blind = 0;
  for (const MeasuredRuns& runs : measured_runs()) {
    EXPECT_NO_THROW(find_gpu(runs.traits.gpu)) << runs.family;
    // Without a blind row nothing is said of how far off they were.
    EXPECT_EQ(runs.deviation > 0, runs.rows > 0) << runs.family;
    blind += runs.rows;
  }
  EXPECT_GT(blind, 1500);
}

TEST(MeasuredRuns, AreWrittenAsTheyAreRead) {
  const std::string text = measured_runs_text({{.family = "a / X",
                                                .model = "512x4",
                                                .traits = {.gpu = "h100",
                                                           .gpu_bits = 8,
                                                           .bits = 8,
                                                           .experts = true,
                                                           .gpus = 64,
                                                           .sequence = 4096,
                                                           .experts_a_rank = 16,
                                                           .micro_tokens = 8192},
                                                .rows = 3,
                                                .deviation = 0.1234}});
  EXPECT_NE(
      text.find(
          "- {family: \"a / X\", model: 512x4, gpu: h100, gpu_bits: 8, bits: 8, experts: true, "
          "adapters: false, small: false, sharded_weights: false, context: false, gpus: 64, "
          "sequence: 4096, experts_a_rank: 16, micro_tokens: 8192, "
          "rows: 3, deviation: 0.123}\n"),
      std::string::npos)
      << text;
}

}  // namespace
}  // namespace windtunnel
