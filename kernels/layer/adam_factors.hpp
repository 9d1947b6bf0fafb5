// What all elements of a step of Adam share, worked out once.
#pragma once

#include "kernels/layer/adam_update.cuh"
#include "kernels/layer/stream_ops.hpp"

namespace windtunnel {

// Throws InternalError outside of the bounds that AdamSettings states.
AdamFactors adam_factors(const AdamSettings& settings);

}  // namespace windtunnel
