// Distribution of sequence lengths in a batch: a log-normal law, or buckets with a share each (two
// of them: bimodal), log-uniform within a bucket. In long-context corpora most sequences are short,
// and few are as long as the window (FlexSP, arXiv 2412.01523, figure 2; ByteScale, arXiv
// 2502.21231, figure 1).
#pragma once

#include <cstdint>
#include <vector>

namespace windtunnel {

struct LengthBucket {
  double shortest = 1;  // tokens
  double longest = 1;
  double share = 1;  // share of the sequences
};

struct LengthDistribution {
  std::vector<LengthBucket> buckets = {};  // empty: log-normal
  double median = 1;                       // tokens
  double sigma = 1;    // standard deviation of the logarithm; 0: all have the median length
  double longest = 1;  // longer ones are truncated to it
};

// How sequences are assigned to ranks: policies/lengths/length_balance.hpp.
enum class LengthPolicy { fixed, flexsp, hdp };

// Sequences of different length in a batch; batch.sequence is the maximum.
struct UnequalLengths {
  LengthDistribution distribution;
  LengthPolicy policy = LengthPolicy::fixed;
  std::uint64_t seed = 1;
};

// Whole tokens, at least 1. Throws Error if shares do not add up to 1 or bounds are in the wrong
// order.
std::vector<int> draw_lengths(const LengthDistribution& distribution, int count,
                              std::uint64_t seed);

}  // namespace windtunnel
