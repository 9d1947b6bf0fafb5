#include "tests/kernels/code/galois_code_properties.hpp"
#include "tests/kernels/gpu_fixture.hpp"

namespace windtunnel {
namespace {

using GaloisCodeGpu = GpuTest;

TEST_F(GaloisCodeGpu, EncodesUpdatesAndRebuildsRandomCodes) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    expect_random_code(DeviceKind::cuda, seed);
    if (HasFatalFailure()) return;
  }
}

TEST_F(GaloisCodeGpu, LongRunOfRandomCodes) {
  for (std::uint64_t seed = 200; seed < 1000; ++seed) {
    expect_random_code(DeviceKind::cuda, seed);
    if (HasFatalFailure()) return;
  }
}

// The codes have more sources and targets than one launch takes, or more words than threads.
TEST_F(GaloisCodeGpu, WideAndLongCodesEqualTheCpus) {
  RandomStream random(3, RandomPurpose::test, 0);
  for (const auto& [k, m, size_bytes] : {std::tuple(150, 20, 1000), {3, 2, (64 << 20) + 5}}) {
    std::vector<Bytes> blocks;
    for (int j = 0; j < k; ++j) {
      blocks.push_back(random_block(random, static_cast<std::size_t>(size_bytes)));
    }
    const GaloisMatrix parity = cauchy_parity(k, m);
    EXPECT_EQ(combined(DeviceKind::cuda, parity, blocks),
              combined(DeviceKind::cpu, parity, blocks));
  }
}

}  // namespace
}  // namespace windtunnel
