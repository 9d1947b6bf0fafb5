// The CUDA side of each table in this folder: defined in the .cu files or, where the project is
// built without the toolkit, in no_cuda.cpp.
#pragma once

#include "kernels/device.hpp"
#include "kernels/galois_code.hpp"
#include "kernels/stream_ops.hpp"
#include "kernels/xor_code.hpp"

namespace windtunnel {

const Device& cuda_device();
const GaloisCode& cuda_galois_code();
const StreamOps& cuda_stream_ops();
const XorCode& cuda_xor_code();

}  // namespace windtunnel
