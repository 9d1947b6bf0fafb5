// A law of lengths for a mean, where that is all that is known.
#pragma once

#include "models/workload/sequence_lengths.hpp"

namespace windtunnel {

// Log-normal and cut at `longest`, with this mean behind the cut. Sigma is `sigma` where the median
// that the mean asks for is from 1 to `longest`; else the median is 1, or half of the lengths are
// `longest`, and sigma is as much smaller as the mean asks for. Throws Error unless
// 1 <= mean <= longest.
LengthDistribution lengths_of_mean(double mean, double longest, double sigma);

}  // namespace windtunnel
