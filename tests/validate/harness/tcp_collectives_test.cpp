#include "validate/harness/tcp_collectives.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// Every rank checks what it got; one that finds a fault throws, which run_ranks() passes on.
void require(bool holds, const char* what) {
  if (!holds) throw Error(what);
}

// Whole numbers: sums are exact in any order.
std::vector<float> values_of(int rank, size_t elements) {
  std::vector<float> values(elements);
  for (size_t i = 0; i < elements; ++i) {
    values[i] = static_cast<float>((i * 7 + static_cast<size_t>(rank) * 13) % 101);
  }
  return values;
}

std::vector<float> sum_of(int ranks, size_t elements) {
  std::vector<float> sum(elements);
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<float> values = values_of(rank, elements);
    for (size_t i = 0; i < elements; ++i) sum[i] += values[i];
  }
  return sum;
}

class Collectives : public ::testing::TestWithParam<std::tuple<int, size_t>> {
 protected:
  int ranks() const { return std::get<0>(GetParam()); }
  size_t elements() const { return std::get<1>(GetParam()); }
};

TEST_P(Collectives, AllReducesSum) {
  const std::vector<float> sum = sum_of(ranks(), elements());
  run_ranks(ranks(), [&](TcpGroup& group) {
    std::vector<float> ring = values_of(group.rank(), elements());
    all_reduce_ring(group, ring);
    require(ring == sum, "ring");
    std::vector<float> tree = values_of(group.rank(), elements());
    all_reduce_tree(group, tree);
    require(tree == sum, "tree");
  });
}

TEST_P(Collectives, HalvesOfTheRing) {
  const std::vector<float> sum = sum_of(ranks(), elements());
  run_ranks(ranks(), [&](TcpGroup& group) {
    std::vector<float> values = values_of(group.rank(), elements());
    reduce_scatter_ring(group, values);
    const Part mine = part_of(elements(), group.rank(), group.ranks());
    for (size_t i = mine.begin; i < mine.end; ++i) require(values[i] == sum[i], "own part");
    for (size_t i = 0; i < elements(); ++i) {
      if (i < mine.begin || i >= mine.end) values[i] = -1;
    }
    all_gather_ring(group, values);
    require(values == sum, "gathered");
  });
}

TEST_P(Collectives, AllToAllTransposes) {
  const size_t per_pair = elements();
  run_ranks(ranks(), [&](TcpGroup& group) {
    const auto p = static_cast<size_t>(group.ranks());
    std::vector<float> out(per_pair * p);
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<float>(static_cast<size_t>(group.rank()) * 1000 +
                                  i / std::max<size_t>(1, per_pair));
    }
    std::vector<float> in(out.size());
    all_to_all_pairwise(group, out, in);
    for (size_t i = 0; i < in.size(); ++i) {
      require(in[i] == static_cast<float>(i / per_pair * 1000) + static_cast<float>(group.rank()),
              "transposed");
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, Collectives,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4),
                                            ::testing::Values(0, 1, 5, 1000, 100003)));

TEST(TcpGroup, ABarrierHoldsAndAFailureIsTold) {
  run_ranks(3, [](TcpGroup& group) {
    for (int i = 0; i < 10; ++i) group.barrier();
  });
  try {
    run_ranks(2, [](TcpGroup& group) {
      if (group.rank() == 1) throw Error("out of cheese");
      group.barrier();
    });
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("rank 1: out of cheese"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace windtunnel
