#include "models/workload/scan_form.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

constexpr ScanKind kKinds[] = {ScanKind::mamba2, ScanKind::gated_delta, ScanKind::kimi_delta,
                               ScanKind::lightning};

MambaMixer mixer(ScanKind kind) {
  return {.kind = kind, .state = 64, .head_width = 128, .groups = 8, .heads = 32, .chunk = 128};
}

TEST(ScanForm, EveryKindHasKernelsBothWays) {
  for (const ScanKind kind : kKinds) {
    const ScanForm& form = scan_form(kind);
    EXPECT_EQ(form.kind, kind);
    EXPECT_FALSE(form.title.empty());
    EXPECT_GT(form.backward.size(), form.forward.size()) << form.title;
    for (const auto kernels : {form.forward, form.backward}) {
      for (const ScanKernel& kernel : kernels) {
        EXPECT_FALSE(kernel.name.empty()) << form.title;
        EXPECT_EQ(kernel.m == ScanSide::none, kernel.k == ScanSide::none) << kernel.name;
      }
    }
  }
}

// The columns of the first matrix are gate, input, keys and queries, and what the form adds per
// head.
TEST(ScanForm, ColumnsOfTheFirstMatrix) {
  const int inner = 32 * 128;
  const int shared = 8 * 64;
  EXPECT_EQ(mixer(ScanKind::mamba2).projected(), 2 * inner + 2 * shared + 32);
  EXPECT_EQ(mixer(ScanKind::gated_delta).projected(), 2 * inner + 2 * shared + 2 * 32);
  EXPECT_EQ(mixer(ScanKind::kimi_delta).projected(), inner + 2 * shared + 32 + 2 * 128);
  EXPECT_EQ(mixer(ScanKind::lightning).projected(), 2 * inner + 2 * shared);
}

TEST(ScanForm, KernelsOfDeltaRulesHaveChunksOfTheirOwn) {
  EXPECT_EQ(mixer(ScanKind::mamba2).chunk_tokens(), 128);
  EXPECT_EQ(mixer(ScanKind::gated_delta).chunk_tokens(), 64);
  EXPECT_EQ(mixer(ScanKind::lightning).chunk_tokens(), 256);
}

// Per number of the state, Mamba-2 takes 7 operations and a delta rule 8 (Megatron-LM), for any
// length; Lightning Attention's blocks are at most as long as the sequence.
TEST(ScanForm, OperationsByTheConvention) {
  const double states = 32.0 * 128 * 64;
  EXPECT_EQ(mixer(ScanKind::mamba2).counted_flops(4096), 7 * states);
  EXPECT_EQ(mixer(ScanKind::kimi_delta).counted_flops(64), 8 * states);
  const MambaMixer lightning = mixer(ScanKind::lightning);
  EXPECT_EQ(lightning.counted_flops(4096), 4 * states + 2.0 * 256 * 32 * (128 + 64));
  EXPECT_LT(lightning.counted_flops(100), lightning.counted_flops(4096));
}

}  // namespace
}  // namespace windtunnel
