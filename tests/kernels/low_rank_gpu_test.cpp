#include "tests/kernels/gpu_fixture.hpp"
#include "tests/kernels/low_rank_properties.hpp"

namespace windtunnel {
namespace {

constexpr DeviceKind kCuda = DeviceKind::cuda;

class LowRankGpu : public GpuTest {
 protected:
  void SetUp() override {
    const std::string reason = low_rank(kCuda).why_unusable();
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

TEST_F(LowRankGpu, OrthonormalisesEveryKindOfMatrix) {
  std::uint64_t seed = 1;
  for (const auto& [m, r] : {std::pair(1, 1),
                             {7, 1},
                             {2, 2},
                             {5, 4},
                             {64, 64},
                             {100, 3},
                             {257, 16},
                             {1000, 64},
                             {1024, 32}}) {
    expect_orthonormal_kinds(kCuda, m, r, seed++);
  }
}

TEST_F(LowRankGpu, OrthonormalisesTallMatrices) {
  RandomStream random(1, RandomPurpose::test, 0);
  for (const double condition : {1.5, 1e5}) {
    const Floats p = conditioned(random, 30522, 64, condition);
    const DeviceFloats matrix(kCuda, p);
    const DeviceBuffer workspace(device(kCuda), orthonormal_workspace_bytes(1, 30522, 64));
    low_rank(kCuda).orthonormalise(1, 30522, 64, matrix.data(), workspace.data());
    device(kCuda).synchronize();
    expect_orthonormal(p, matrix.download(), 30522, 64, 1e-4);
  }
}

TEST_F(LowRankGpu, ProductsEqualThoseInDouble) {
  expect_products(kCuda, {1, 1, 1, 1}, 1);
  expect_products(kCuda, {3, 7, 5, 2}, 2);
  expect_products(kCuda, {2, 130, 257, 32}, 3);
  expect_products(kCuda, {5, 64, 33, 64}, 4);
}

TEST_F(LowRankGpu, StepsMissWhatIsOrthogonal) {
  expect_step_of_low_rank(kCuda, {4, 40, 30, 4}, 1);
  expect_step_of_low_rank(kCuda, {24, 1024, 1024, 32}, 2);
}

// All of a step starts without the host's waiting, so that it can be captured.
TEST_F(LowRankGpu, StepsCanBeTimed) {
  const LowRankShape shape = {4, 256, 256, 16};
  const DeviceFloats gradient(kCuda, Floats(4 * 256 * 256)), p(kCuda, Floats(4 * 256 * 16));
  const DeviceFloats q(kCuda, Floats(4 * 256 * 16));
  const DeviceBuffer workspace(device(kCuda), orthonormal_workspace_bytes(4, 256, 16));
  const LowRank& steps = low_rank(kCuda);
  EXPECT_GT(device(kCuda).time_s(
                [&] {
                  steps.project(shape, gradient.data(), q.data(), p.data());
                  steps.orthonormalise(4, 256, 16, p.data(), workspace.data());
                  steps.back_project(shape, gradient.data(), p.data(), q.data());
                  steps.subtract(shape, p.data(), q.data(), gradient.data());
                },
                10),
            0);
}

}  // namespace
}  // namespace windtunnel
