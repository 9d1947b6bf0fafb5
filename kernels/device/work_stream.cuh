// The stream on which every kernel of this folder starts. Not the default stream, which cannot be
// captured into a graph; inside of Device::run_beside each work sees one of its own.
#pragma once

#include <cuda_runtime.h>

namespace windtunnel {

cudaStream_t work_stream();

}  // namespace windtunnel
