#include "validate/harness/collectives/tcp_collectives.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "models/base/error.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/test_names.hpp"

namespace windtunnel {
namespace {

// Every rank checks its result; a rank that finds a fault throws, and run_ranks() passes it on.
void require(bool holds, const char* what) {
  if (!holds) throw Error(what);
}

// Numbers are whole, so that sums are exact in any order.
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

class TcpAlgorithms : public ::testing::TestWithParam<std::tuple<int, size_t>> {
 protected:
  int ranks() const { return std::get<0>(GetParam()); }
  size_t elements() const { return std::get<1>(GetParam()); }
};

TEST_P(TcpAlgorithms, AllReducesSum) {
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

TEST_P(TcpAlgorithms, HalvesOfTheRing) {
  const std::vector<float> sum = sum_of(ranks(), elements());
  run_ranks(ranks(), [&](TcpGroup& group) {
    const std::vector<float> values = values_of(group.rank(), elements());
    const Part mine = part_of(elements(), group.rank(), group.ranks());
    std::vector<float> gathered(elements(), -1);
    const std::span<float> own = std::span(gathered).subspan(mine.begin, mine.end - mine.begin);
    reduce_scatter_ring(group, values, own);
    for (size_t i = 0; i < own.size(); ++i) require(own[i] == sum[mine.begin + i], "own part");
    all_gather_ring(group, std::as_writable_bytes(std::span(gathered)), sizeof(float));
    require(gathered == sum, "gathered");
  });
}

std::byte byte_of(int from, int to, size_t i) {
  return static_cast<std::byte>((static_cast<size_t>(from) * 31 + static_cast<size_t>(to) * 7 + i) %
                                251);
}

// This tests the class that compressors call; its all-reduce and its halves use the functions
// above.
TEST_P(TcpAlgorithms, BytesReachTheirRanks) {
  const size_t bytes = elements();
  run_ranks(ranks(), [&](TcpGroup& group) {
    TcpCollectives collectives(group);
    const int rank = collectives.rank();
    const auto p = static_cast<size_t>(collectives.ranks());
    std::vector<std::byte> out(bytes * p);
    std::vector<std::byte> in(bytes * p);
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = byte_of(rank, static_cast<int>(i / bytes), i % bytes);
    }
    collectives.all_to_all(out.data(), in.data(), bytes);
    for (size_t i = 0; i < in.size(); ++i) {
      require(in[i] == byte_of(static_cast<int>(i / bytes), rank, i % bytes), "transposed");
    }
    collectives.all_gather(out.data(), in.data(), bytes);
    for (size_t i = 0; i < in.size(); ++i) {
      require(in[i] == byte_of(static_cast<int>(i / bytes), 0, i % bytes), "gathered");
    }
    for (int root = 0; root < collectives.ranks(); ++root) {
      std::vector<std::byte> values(bytes, static_cast<std::byte>(rank));
      collectives.broadcast(values.data(), bytes, root);
      for (const std::byte value : values)
        require(value == std::byte(root), "expected an absolute path, as in /sweeps/out");
    }
    const int next = (rank + 1) % collectives.ranks();
    const int previous = (rank + collectives.ranks() - 1) % collectives.ranks();
    if (collectives.ranks() == 1) return;
    collectives.exchange(next, out.data(), bytes, previous, in.data(), bytes);
    for (size_t i = 0; i < bytes; ++i) {
      require(in[i] == byte_of(previous, 0, i), "of the neighbour");
    }
  });
}

TEST_P(TcpAlgorithms, PartsAreReducedBesideTheirValues) {
  const size_t part = elements() / static_cast<size_t>(ranks());
  const size_t all = part * static_cast<size_t>(ranks());
  const std::vector<float> sum = sum_of(ranks(), all);
  run_ranks(ranks(), [&](TcpGroup& group) {
    TcpCollectives collectives(group);
    const std::vector<float> values = values_of(group.rank(), all);
    std::vector<float> own(part);
    collectives.reduce_scatter(values.data(), own.data(), part);
    const size_t begin = part * static_cast<size_t>(group.rank());
    for (size_t i = 0; i < part; ++i) require(own[i] == sum[begin + i], "own part");
    require(values == values_of(group.rank(), all), "values are left alone");
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, TcpAlgorithms,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4),
                                            ::testing::Values(0, 1, 5, 1000, 100003)),
                         named([](const std::tuple<int, size_t>& size) {
                           return std::to_string(std::get<0>(size)) + " ranks " +
                                  std::to_string(std::get<1>(size)) + " values";
                         }));

// The other ranks only see broken connections.
TEST(TcpGroup, TheFaultThatLedToTheOthersIsTold) {
  for (int culprit = 0; culprit < 4; ++culprit) {
    try {
      run_ranks(4, [&](TcpGroup& group) {
        if (group.rank() == culprit) throw Error("out of cheese", ExitCode::incomplete);
        std::vector<float> values(1000);
        while (true) all_reduce_ring(group, values);
      });
      FAIL();
    } catch (const Error& error) {
      const std::string who = culprit == 0 ? "" : "rank " + std::to_string(culprit) + ": ";
      EXPECT_EQ(error.what(), who + "out of cheese");
      EXPECT_EQ(error.code(), culprit == 0 ? ExitCode::incomplete : ExitCode::failed);
    }
  }
}

TEST(TcpGroup, ABarrierHoldsAndAFailureIsTold) {
  run_ranks(3, [](TcpGroup& group) {
    for (int i = 0; i < 10; ++i) group.barrier();
  });
  EXPECT_TRUE(fails(
      [&] {
        run_ranks(2, [](TcpGroup& group) {
          if (group.rank() == 1) throw Error("out of cheese");
          group.barrier();
        });
      },
      "rank 1: out of cheese", ExitCode::failed));
}

}  // namespace
}  // namespace windtunnel
