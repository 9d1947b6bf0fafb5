#include "models/network/groups/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <vector>

namespace windtunnel {
namespace {

constexpr Pattern kPatterns[] = {
    Pattern::none,  Pattern::ring,     Pattern::chain,    Pattern::back_chain, Pattern::double_tree,
    Pattern::pairs, Pattern::to_first, Pattern::doubling, Pattern::halving,    Pattern::shifts};

TEST(Pattern, TheBusiestPlaceAndTheSumAreThoseOfTheEdges) {
  for (const Pattern pattern : kPatterns) {
    for (int n = 1; n <= 70; ++n) {
      std::vector<double> out(n, 0);
      std::vector<double> in(n, 0);
      double all = 0;
      for_each_edge(pattern, n, [&](size_t from, size_t to, double share) {
        ASSERT_LT(std::max(from, to), static_cast<size_t>(n));
        ASSERT_NE(from, to);
        out[from] += share;
        in[to] += share;
        all += share;
      });
      const double most = std::max(*std::max_element(out.begin(), out.end()),
                                   *std::max_element(in.begin(), in.end()));
      EXPECT_NEAR(port_share(pattern, n), most, 1e-12) << static_cast<int>(pattern) << " " << n;
      if (pattern == Pattern::none) continue;
      EXPECT_NEAR(total_share(pattern, n), all, 1e-9) << static_cast<int>(pattern) << " " << n;
    }
  }
}

// In an all-gather by shifts each member passes on the blocks that it has, until every member has
// every block.
TEST(Pattern, ShiftsBringEveryBlockOnceToEveryPlace) {
  for (const int n : {2, 3, 6, 7, 8, 13}) {
    double blocks = 0;
    for_each_edge(Pattern::shifts, n, [&](size_t, size_t, double share) { blocks += share * n; });
    EXPECT_NEAR(blocks, n * (n - 1), 1e-9);
  }
}

// If each member adds what it receives, it has the sum of all members after log2 n exchanges.
TEST(Pattern, DoublingJoinsAll) {
  for (const int n : {2, 3, 4, 6, 8, 11, 16}) {
    std::vector<std::set<size_t>> has(n);
    for (int i = 0; i < n; ++i) has[i].insert(i);
    // The order of edges does not tell the rounds: first the inactive members hand over, then each
    // round has one distance.
    const int rounds = std::bit_width(static_cast<unsigned>(n)) + 2;
    for (int round = 0; round < rounds; ++round) {
      const auto before = has;
      for_each_edge(Pattern::doubling, n, [&](size_t from, size_t to, double) {
        has[to].insert(before[from].begin(), before[from].end());
      });
    }
    for (int i = 0; i < n; ++i) EXPECT_EQ(has[i].size(), static_cast<size_t>(n)) << n;
  }
}

}  // namespace
}  // namespace windtunnel
