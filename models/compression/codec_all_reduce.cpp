#include "models/compression/codec_all_reduce.hpp"

#include <limits>

namespace windtunnel {

double CodecAllReduce::s_per_byte_of(double bits) const {
  const double packed = bits / 8 + scale_bytes / block;
  const double moved = 2 * (element_bytes + packed) + packed * (1 + 1 / ranks);
  return (s_per_byte * packed + moved / codec_Bps) / element_bytes;
}

double CodecAllReduce::seconds(double bits, double bytes) const {
  return start_s + codec_start_s + s_per_byte_of(bits) * bytes;
}

double CodecAllReduce::crossover_bytes(double bits) const {
  const double gain = s_per_byte - s_per_byte_of(bits);
  return gain > 0 ? codec_start_s / gain : std::numeric_limits<double>::infinity();
}

}  // namespace windtunnel
