#include "models/calibration/compression_kernels.hpp"

#include <array>

namespace windtunnel {
namespace {

Parameter assumed(double value, double low, double high, const char* source) {
  return {value, low, high, Origin::assumed, source};
}

// A kernel with one pass of sequential accesses is as fast as any memory-bound kernel.
Parameter streaming() {
  return assumed(1, 0.8, 1, "one pass over the bytes, as for other element-wise kernels");
}

}  // namespace

std::span<const CompressionKernel> compression_kernels() {
  static const std::array<CompressionKernel, 19> table = {{
      {"error add", "adds the unsent remainder to the gradient", streaming()},
      {"low-rank product", "a gradient times a thin factor",
       assumed(0.8, 0.5, 0.95, "skinny GEMM bound by memory up to a rank of about 28 in fp32")},
      {"orthonormalise", "makes the columns of a factor orthonormal",
       assumed(0.5, 0.1, 0.9,
               "small kernels; their latency, which dominates, is counted separately")},
      {"exact top-k", "selection and compaction of the largest elements",
       assumed(0.65, 0.4, 0.9,
               "radix selection (AIR top-k, RadiK): 0.75 ms for 2^28 fp32 elements on an H200, "
               "0.49 ms at full bandwidth")},
      {"threshold", "compare and compact in one pass",
       assumed(0.85, 0.6, 0.95, "a stream compaction")},
      {"count", "elements above thresholds, in passes", streaming()},
      {"merge", "merges two sparse gradients and keeps the largest elements",
       assumed(0.5, 0.1, 0.8, "sorts of small arrays")},
      {"gather", "copies chosen elements into a buffer",
       assumed(0.8, 0.5, 0.95, "whole sectors counted")},
      {"scatter", "adds received elements to the gradient",
       assumed(0.5, 0.2, 0.8, "accesses without order")},
      {"sign pack", "packs numbers to one bit each",
       assumed(0.9, 0.7, 0.95, "one pass, a ballot per warp")},
      {"sign unpack", "unpacks numbers of one bit each", assumed(0.9, 0.7, 0.95, "one pass")},
      {"vote", "sums of packed signs", assumed(0.8, 0.5, 0.95, "P inputs, one output")},
      {"sign error", "signs, their scale, and the error that remains",
       assumed(0.85, 0.6, 0.95, "two passes: the scale first")},
      {"ternary", "numbers to -1, 0, 1 with random rounding",
       assumed(0.8, 0.5, 0.95, "two passes with random numbers")},
      {"quantise blocks",
       "numbers to few bits with a scale, or back",
       {0.9, 0.8, 0.95, Origin::published,
        "torchao: fp8 block quantisation on H100 above 80 % of the achievable bandwidth"}},
      {"requantise blocks", "sum of quantised parts, which is quantised again",
       assumed(0.8, 0.5, 0.95, "P inputs, one output")},
      {"sketch", "count-sketch by atomics, or medians of a count-sketch",
       assumed(0.5, 0.2, 0.7, "atomics on counters in L2; counted once read, once written")},
      {"transform", "cosine transforms of chunks",
       assumed(0.8, 0.5, 0.95, "both products in one kernel")},
      {"draw", "random numbers from seeds, added to the weights",
       assumed(0.5, 0.1, 0.9, "one pass; with many seeds the generator may be the limit")},
  }};
  return table;
}

const CompressionKernel* find_compression_kernel(std::string_view name) {
  for (const CompressionKernel& kernel : compression_kernels()) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

}  // namespace windtunnel
