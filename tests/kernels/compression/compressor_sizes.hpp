// Numbers of elements that tests of compressors try.
#pragma once

#include <cstddef>
#include <vector>

#include "models/base/random.hpp"

namespace windtunnel {

// The numbers lie on both sides of the boundaries of vectors, blocks and tiles; six more are
// random.
inline std::vector<std::size_t> compressor_sizes(RandomStream& random) {
  std::vector<std::size_t> sizes = {0,   1,   3,   4,    5,    31,   32,   33,   63,   64,  65,
                                    127, 128, 129, 255,  256,  257,  511,  512,  513,  575, 767,
                                    832, 960, 961, 1023, 1024, 1025, 2047, 2048, 2049, 8193};
  for (int i = 0; i < 6; ++i) sizes.push_back(random.below(20000));
  return sizes;
}

}  // namespace windtunnel
