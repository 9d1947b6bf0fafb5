// A distribution of sequence lengths when only the mean is known.
#pragma once

#include "models/workload/sequence_lengths.hpp"

namespace windtunnel {

// Log-normal, cut at `longest`, with this mean after the cut. Sigma is `sigma` if that gives a
// median from 1 to `longest`. Otherwise the median is 1, or half of the lengths are `longest`, and
// sigma is reduced to obtain the mean. Throws Error unless 1 <= mean <= longest.
LengthDistribution lengths_of_mean(double mean, double longest, double sigma);

}  // namespace windtunnel
