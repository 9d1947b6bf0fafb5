// PyTorch wrote this trace on a GPU (see examples/traces/h200-two-layers.yaml). The numbers that
// are checked here were counted in the file's lists by another program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traces/profile/profile_reader.hpp"
#include "traces/profile/step_passes.hpp"

namespace windtunnel {
namespace {

using ::testing::ElementsAre;

RankProfile real_trace() {
  return read_profile(WINDTUNNEL_SOURCE_DIR "/examples/traces/h200/two-layers.rank-0.json.gz");
}

TEST(RealTrace, StepsAndKernelsAreAllThere) {
  const RankProfile profile = real_trace();
  EXPECT_EQ(profile.gpu, "NVIDIA H200");
  EXPECT_EQ(profile.rank, 0);
  EXPECT_EQ(profile.ranks, 1);
  EXPECT_EQ(profile.work.size(), 783u + 24u);  // kernels and memory fills
  const CapturedRank rank = captured_steps(profile);
  EXPECT_TRUE(rank.annotated);
  ASSERT_EQ(rank.steps.size(), 2u);
  EXPECT_EQ(rank.steps[1].name, "ProfilerStep#2");
}

// There are two micro-batches of two layers: a forward pass has seven products per layer and one of
// the head, and the second backward pass adds its gradients to the gradients of the first.
TEST(RealTrace, PassesHaveTheirKernels) {
  const RankProfile profile = real_trace();
  const CapturedRank rank = captured_steps(profile);
  for (const CapturedStep& step : rank.steps) {
    const StepPasses made = step_passes(profile, rank, step);
    EXPECT_FALSE(made.annotated);  // the launching threads tell passes apart
    std::string letters;
    std::vector<std::size_t> kernels, products, attention;
    for (const CapturedPass& pass : made.passes) {
      letters += pass.action ? letters_of(*pass.action) : "O";
      kernels.push_back(pass.work.size());
      const auto of = [&](WorkKind kind) {
        return static_cast<std::size_t>(std::ranges::count_if(
            pass.work, [&](std::size_t i) { return profile.work[i].kind == kind; }));
      };
      products.push_back(of(WorkKind::product));
      attention.push_back(of(WorkKind::attention));
    }
    EXPECT_EQ(letters, "FBFBO");
    EXPECT_THAT(kernels, ElementsAre(75, 113, 75, 134, 6));
    EXPECT_THAT(products, ElementsAre(15, 31, 15, 31, 0));
    EXPECT_THAT(attention, ElementsAre(2, 6, 2, 6, 0));
  }
  const std::vector<CapturedPass> passes = step_passes(profile, rank, rank.steps[1]).passes;
  const double busy_us[] = {1053.28, 1706.07, 1055.10, 1856.64, 517.79};
  for (std::size_t i = 0; i < passes.size(); ++i) {
    EXPECT_NEAR(passes[i].busy_s * 1e6, busy_us[i], 0.02 * busy_us[i]) << i;
  }
}

// Most kernels that count as element-wise are recognised by their name; only few have a name
// without a class.
TEST(RealTrace, FewKernelsHaveNoClass) {
  const RankProfile profile = real_trace();
  double all_s = 0, unknown_s = 0;
  for (const GpuWork& work : profile.work) {
    const std::string& name = profile.names[static_cast<std::size_t>(work.name)];
    all_s += work.end_s - work.start_s;
    if (work.kind != WorkKind::element_wise) continue;
    bool known = false;
    for (const char* part : {"elementwise", "Copy", "gather", "embedding", "nll_loss", "reduce"}) {
      known |= name.find(part) != std::string::npos;
    }
    if (!known) unknown_s += work.end_s - work.start_s;
  }
  EXPECT_LT(unknown_s, 0.02 * all_s);
}

}  // namespace
}  // namespace windtunnel
