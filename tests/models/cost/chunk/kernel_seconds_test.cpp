#include "models/cost/chunk/kernel_seconds.hpp"

#include <gtest/gtest.h>

#include "models/cost/chunk/chunk_cost.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

double compute_s(const std::vector<CostPart>& parts) {
  double seconds = 0;
  for (const CostPart& part : parts) {
    const bool kernels = part.category == Category::forward ||
                         part.category == Category::backward ||
                         part.category == Category::recompute;
    if (kernels) seconds += part.seconds;
  }
  return seconds;
}

// Without communication and host time, a stage's kernels sum to its compute time.
TEST(KernelSeconds, SumUpToTheComputeOfTheStages) {
  for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    Job job = small_job(1, 2, 1);
    job.recompute = recompute;
    const std::vector<KernelSeconds> kernels = kernel_seconds(job);
    const std::vector<ChunkCost> chunks = chunk_costs(job);
    ASSERT_EQ(kernels.size(), chunks.size());
    for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
      const ChunkCost& chunk = chunks[stage];
      const double expected_s = compute_s(chunk.forward) + compute_s(chunk.backward_input) +
                                compute_s(chunk.backward_weight) + compute_s(chunk.recompute);
      EXPECT_NEAR(kernels[stage].total_s(), expected_s, 1e-9 * expected_s);
      EXPECT_GT(kernels[stage].products_s, 0);
      EXPECT_GT(kernels[stage].attention_backward_s, kernels[stage].attention_forward_s);
    }
  }
}

TEST(KernelSeconds, AddAndMultiply) {
  const KernelSeconds sum = KernelSeconds{1, 2, 3, 4} * 2 + KernelSeconds{1, 1, 1, 1};
  EXPECT_EQ(sum.products_s, 3);
  EXPECT_EQ(sum.memory_s, 9);
  EXPECT_EQ(sum.total_s(), 24);
}

}  // namespace
}  // namespace windtunnel
