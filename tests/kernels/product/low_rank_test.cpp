#include "kernels/product/low_rank.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "kernels/product/orthonormal_team.cuh"
#include "models/base/error.hpp"
#include "tests/kernels/product/low_rank_properties.hpp"

namespace windtunnel {
namespace {

constexpr DeviceKind kCpu = DeviceKind::cpu;

TEST(LowRank, OrthonormalisesEveryKindOfMatrix) {
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
    expect_orthonormal_kinds(kCpu, m, r, seed++);
  }
}

TEST(LowRank, ProductsEqualThoseInDouble) {
  expect_products(kCpu, {1, 1, 1, 1}, 1);
  expect_products(kCpu, {3, 7, 5, 2}, 2);
  expect_products(kCpu, {2, 130, 257, 32}, 3);
  expect_products(kCpu, {5, 64, 33, 64}, 4);
}

TEST(LowRank, StepsMissWhatIsOrthogonal) {
  expect_step_of_low_rank(kCpu, {4, 40, 30, 4}, 1);
  expect_step_of_low_rank(kCpu, {2, 256, 300, 32}, 2);
}

TEST(LowRank, RefusesWhatCannotBe) {
  EXPECT_THROW(low_rank(kCpu).orthonormalise(1, 3, 4, nullptr, nullptr), InternalError);
  EXPECT_THROW(low_rank(kCpu).orthonormalise(1, 100, 65, nullptr, nullptr), InternalError);
  EXPECT_THROW(low_rank(kCpu).orthonormalise(0, 3, 3, nullptr, nullptr), InternalError);
}

// A team of host threads that runs the code of a CUDA block, with the same barriers.
struct HostTeam {
  int thread;
  int size;
  std::barrier<>* all;
  void sync() const { all->arrive_and_wait(); }
};

template <typename Work>
void run_team(int size, const Work& work) {
  std::barrier<> all(size);
  std::vector<std::jthread> threads;
  for (int i = 0; i < size; ++i) threads.emplace_back([&, i] { work(HostTeam{i, size, &all}); });
}

template <int kSide, int kTile>
void expect_gram_matrix(RandomStream& random, int m, int r) {
  SCOPED_TRACE(::testing::Message() << kSide << "^2 threads, " << m << " x " << r);
  const Floats matrix = random_floats(random, static_cast<size_t>(m * r));
  const int count = gram_parts(m);
  Floats parts(static_cast<size_t>(count * r * r), NAN);
  std::vector<float> rows(static_cast<size_t>(kGramRows * kSide * kTile));
  for (int part = 0; part < count; ++part) {
    run_team(kSide * kSide, [&](const HostTeam& team) {
      sum_gram_part<kSide, kTile>(team, m, r, part, matrix.data(), parts.data() + part * r * r,
                                  rows.data());
    });
  }
  for (int i = 0; i < r * r; ++i) {
    double sum = 0;
    double expected = 0;
    for (int part = 0; part < count; ++part) sum += parts[static_cast<size_t>(part * r * r + i)];
    for (int row = 0; row < m; ++row) {
      expected += 1.0 * matrix[static_cast<size_t>(row * r + i / r)] *
                  matrix[static_cast<size_t>(row * r + i % r)];
    }
    EXPECT_NEAR(sum, expected, 2e-6 * m) << "cell " << i;
  }
}

TEST(LowRank, TeamsSumGramMatrices) {
  RandomStream random(5, RandomPurpose::test, 0);
  for (const int m : {1, 31, 33, 256, 300, 513}) {
    expect_gram_matrix<1, 4>(random, m, 3);
    expect_gram_matrix<2, 4>(random, m, 7);
    expect_gram_matrix<3, 1>(random, m, 3);
    expect_gram_matrix<3, 2>(random, m, 6);
  }
}

// Teams of other sizes sum in another order, so that results differ by rounding.
TEST(LowRank, TeamsOfAnySizeInvertGramMatrices) {
  RandomStream random(3, RandomPurpose::test, 0);
  const int m = 40;
  const int r = 6;
  for (const int size : {1, 4, 6, 21}) {
    for (const double condition : {10.0, 100.0, 1e5}) {
      SCOPED_TRACE(::testing::Message() << size << " threads, condition " << condition);
      const Floats p = conditioned(random, m, r, condition);
      Floats gram(r * r), inverse(r * r, 7);
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < r * r; ++j) {
          gram[static_cast<size_t>(j)] +=
              p[static_cast<size_t>(i * r + j / r)] * p[static_cast<size_t>(i * r + j % r)];
        }
      }
      GramMemory memory;
      std::vector<int> well(static_cast<size_t>(size));
      run_team(size, [&](const HostTeam& team) {
        well[static_cast<size_t>(team.thread)] =
            invert_gram(team, r, 1, gram.data(), inverse.data(), memory) ? 1 : 0;
      });
      EXPECT_EQ(well, std::vector<int>(static_cast<size_t>(size), condition < 1e3 ? 1 : 0));
      // X is upper triangular with X^T G X = I, or it is zero.
      for (int i = 0; i < r; ++i) {
        for (int j = 0; j < r; ++j) {
          double sum = 0;
          for (int k = 0; k < r * r; ++k) {
            sum += 1.0 * inverse[static_cast<size_t>(k / r * r + i)] *
                   gram[static_cast<size_t>(k)] * inverse[static_cast<size_t>(k % r * r + j)];
          }
          EXPECT_NEAR(sum, i == j && condition < 1e3 ? 1 : 0, 1e-6 * condition);
          if (j < i) {
            EXPECT_EQ(inverse[static_cast<size_t>(i * r + j)], 0);
          }
        }
      }
    }
  }
}

TEST(LowRank, TeamsOfAnySizeReflect) {
  RandomStream random(4, RandomPurpose::test, 0);
  const int m = 30;
  const int r = 6;
  for (const int size : {1, 4, 6, 21}) {
    for (const auto& [name, matrix] : kinds_of_matrices(random, m, r)) {
      SCOPED_TRACE(::testing::Message() << size << " threads, " << name);
      Floats work = matrix;
      Floats result(matrix.size());
      ReflectionMemory memory;
      run_team(size, [&](const HostTeam& team) {
        reflect_to_orthonormal(team, m, r, work.data(), result.data(), memory);
      });
      expect_orthonormal(matrix, result, m, r, 1e-5);
    }
  }
}

// Runs the CUDA form on the host, kernel by kernel.
TEST(LowRank, TeamsOrthonormaliseEveryKindOfMatrix) {
  RandomStream random(6, RandomPurpose::test, 0);
  const int m = 300;
  const int r = 6;
  for (const auto& [name, matrix] : kinds_of_matrices(random, m, r)) {
    SCOPED_TRACE(name);
    Floats from = matrix;
    Floats to(matrix.size()), inverse(r * r), parts(static_cast<size_t>(gram_parts(m) * r * r));
    Floats rows(kGramRows * 8);
    GramMemory gram_memory;
    ReflectionMemory reflection_memory;
    for (int half = 0; half < 2; ++half) {
      for (int part = 0; part < gram_parts(m); ++part) {
        run_team(4, [&](const HostTeam& team) {
          sum_gram_part<2, 4>(team, m, r, part, from.data(), parts.data() + part * r * r,
                              rows.data());
        });
      }
      run_team(13, [&](const HostTeam& team) {
        invert_or_reflect(team, m, r, parts.data(), from.data(), to.data(), inverse.data(),
                          gram_memory, reflection_memory);
      });
      for (size_t i = 0; i < to.size(); ++i) {
        to[i] = 0;
        for (size_t k = 0; k < r; ++k) to[i] += from[i / r * r + k] * inverse[k * r + i % r];
      }
      std::swap(from, to);
    }
    expect_orthonormal(matrix, from, m, r, 1e-4);
  }
}

}  // namespace
}  // namespace windtunnel
