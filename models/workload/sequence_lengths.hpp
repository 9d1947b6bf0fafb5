// How long the sequences of a batch are, where they are not all alike: a body and a tail of a
// log-normal law, or buckets with a share each (two of them: bimodal), inside which lengths are
// log-uniform. Long-context corpora: most sequences are short, few are as long as the window
// (FlexSP, arXiv 2412.01523, figure 2; ByteScale, arXiv 2502.21231, figure 1).
#pragma once

#include <cstdint>
#include <vector>

namespace windtunnel {

struct LengthBucket {
  double shortest = 1;  // tokens
  double longest = 1;
  double share = 1;  // share of the sequences that have this length
};

struct LengthDistribution {
  std::vector<LengthBucket> buckets = {};  // empty: log-normal
  double median = 1;                       // tokens
  double sigma = 1;    // standard deviation of the logarithm; 0: all have the median's length
  double longest = 1;  // longer ones are cut to it
};

// Who computes which sequences: policies/lengths/length_balance.hpp.
enum class LengthPolicy { fixed, flexsp, hdp };

// Sequences of a batch that are not all alike; batch.sequence is the longest that may come.
struct UnequalLengths {
  LengthDistribution distribution;
  LengthPolicy policy = LengthPolicy::fixed;
  std::uint64_t seed = 1;
};

// Whole tokens, at least 1. Throws Error for shares that do not add up to 1 and bounds in the wrong
// order.
std::vector<int> draw_lengths(const LengthDistribution& distribution, int count,
                              std::uint64_t seed);

}  // namespace windtunnel
