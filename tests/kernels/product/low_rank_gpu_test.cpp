#include "tests/kernels/gpu_fixture.hpp"
#include "tests/kernels/product/low_rank_properties.hpp"

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

// Sizes lie on both sides of what a warp, a block and shared memory hold, and of what can be read
// in accesses of 16 bytes.
TEST_F(LowRankGpu, ProductsOfEveryRankAndSize) {
  std::uint64_t seed = 5;
  for (const int r : {1, 2, 3, 4, 7, 8, 9, 16, 17}) {
    for (const std::size_t offset : {std::size_t{0}, std::size_t{1}}) {
      expect_products(kCuda, {1, 1, 4, r}, seed++, offset);
      expect_products(kCuda, {3, 9, 132, r}, seed++, offset);
      expect_products(kCuda, {2, 70, 129, r}, seed++, offset);
      expect_products(kCuda, {1, 1037, 36, r}, seed++, offset);
      expect_products(kCuda, {1, 13, 2062, r}, seed++, offset);
      expect_products(kCuda, {1, 16, 2100, r}, seed++, offset);
      expect_products(kCuda, {5, 65, 12, r}, seed++, offset);
    }
  }
}

// With this many matrices, blocks are as large as they can be.
TEST_F(LowRankGpu, ProductsOfManyMatrices) {
  expect_products(kCuda, {132, 60, 1032, 4}, 1);
  expect_products(kCuda, {132, 60, 520, 16}, 2);
  expect_products(kCuda, {132, 1030, 60, 4}, 3);
  expect_products(kCuda, {132, 520, 60, 16}, 4);
}

// An element that is not finite spoils only the sums that it is a term of.
TEST_F(LowRankGpu, ProductsKeepWhatIsNotFiniteInItsPlace) {
  const LowRankShape shape = {2, 20, 140, 3};
  Floats gradients(2 * 20 * 140, 1), left(2 * 20 * 3, 1), right(2 * 140 * 3, 1);
  gradients[5 * 140 + 137] = NAN;  // row 5, column 137 of the first matrix
  const DeviceFloats gradient(kCuda, gradients), p(kCuda, left), q(kCuda, right);
  low_rank(kCuda).project(shape, gradient.data(), q.data(), p.data());
  const Floats projected = p.download();
  for (std::size_t i = 0; i < projected.size(); ++i) {
    EXPECT_EQ(std::isnan(projected[i]), i / 3 == 5) << "element " << i;
  }
  const DeviceFloats ones(kCuda, left);
  low_rank(kCuda).back_project(shape, gradient.data(), ones.data(), q.data());
  const Floats back = q.download();
  for (std::size_t i = 0; i < back.size(); ++i) {
    EXPECT_EQ(std::isnan(back[i]), i / 3 == 137) << "element " << i;
  }
  const DeviceFloats factor(kCuda, right);
  low_rank(kCuda).subtract(shape, ones.data(), factor.data(), gradient.data());
  const Floats rest = gradient.download();
  for (std::size_t i = 0; i < rest.size(); ++i) {
    EXPECT_EQ(std::isnan(rest[i]), i == 5 * 140 + 137) << "element " << i;
  }
}

// Results do not depend on the order in which blocks and threads run.
TEST_F(LowRankGpu, ProductsAreTheSameEachTime) {
  RandomStream random(1, RandomPurpose::test, 0);
  for (const int r : {1, 4, 16}) {
    const LowRankShape shape = {1, 260, 516, r};
    const auto rank = static_cast<std::size_t>(r);
    const DeviceFloats gradient(kCuda, random_floats(random, 260 * 516));
    const DeviceFloats q(kCuda, random_floats(random, 516 * rank));
    const DeviceFloats p(kCuda, random_floats(random, 260 * rank));
    const DeviceFloats new_p(kCuda, Floats(260 * rank)), new_q(kCuda, Floats(516 * rank));
    Floats first_p, first_q;
    for (int run = 0; run < 4; ++run) {
      low_rank(kCuda).project(shape, gradient.data(), q.data(), new_p.data());
      low_rank(kCuda).back_project(shape, gradient.data(), p.data(), new_q.data());
      device(kCuda).synchronize();
      if (run == 0) {
        first_p = new_p.download();
        first_q = new_q.download();
      }
      expect_same(new_p.download(), first_p);
      expect_same(new_q.download(), first_q);
    }
  }
}

TEST_F(LowRankGpu, StepsMissWhatIsOrthogonal) {
  expect_step_of_low_rank(kCuda, {4, 40, 30, 4}, 1);
  expect_step_of_low_rank(kCuda, {24, 1024, 1024, 32}, 2);
}

// A step never makes the host wait, so that it can be captured into a graph.
TEST_F(LowRankGpu, StepsCanBeTimed) {
  const LowRankShape shape = {4, 256, 256, 16};
  const DeviceFloats gradient(kCuda, Floats(4 * 256 * 256)), p(kCuda, Floats(4 * 256 * 16));
  const DeviceFloats q(kCuda, Floats(4 * 256 * 16));
  const DeviceBuffer workspace(device(kCuda), orthonormal_workspace_bytes(4, 256, 16));
  const LowRank& steps = low_rank(kCuda);
  int calls = 0;
  const auto step = [&] {
    ++calls;
    steps.project(shape, gradient.data(), q.data(), p.data());
    steps.orthonormalise(4, 256, 16, p.data(), workspace.data());
    steps.back_project(shape, gradient.data(), p.data(), q.data());
    steps.subtract(shape, p.data(), q.data(), gradient.data());
  };
  step();  // lets the library allocate its memory
  EXPECT_GT(device(kCuda).time_s(step, 10), 0);
  EXPECT_EQ(calls, 12);  // more calls would mean no capture
}

}  // namespace
}  // namespace windtunnel
