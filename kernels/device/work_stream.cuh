// The stream on which every kernel of kernels/ starts. It is not the default stream, which cannot
// be captured into a graph. Within Device::run_beside each work gets a stream of its own.
#pragma once

#include <cuda_runtime.h>

namespace windtunnel {

cudaStream_t work_stream();

}  // namespace windtunnel
