// Factors that all elements of an Adam step share, computed once.
#pragma once

#include "kernels/layer/adam_update.cuh"
#include "kernels/layer/stream_ops.hpp"

namespace windtunnel {

// Throws InternalError if a setting is outside of the bounds in AdamSettings.
AdamFactors adam_factors(const AdamSettings& settings);

}  // namespace windtunnel
