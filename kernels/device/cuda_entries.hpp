// The CUDA entries of the tables in kernels/: defined in the .cu files or, in a build without the
// toolkit, in no_cuda.cpp (without cuBLAS: no_cublas.cpp).
#pragma once

namespace windtunnel {

struct Device;
struct GaloisCode;
struct Gemm;
struct LowRank;
struct Quantise;
struct SignCode;
struct Sketch;
struct StreamOps;
struct Ternary;
struct TopK;
struct XorCode;

const Device& cuda_device();
const GaloisCode& cuda_galois_code();
const Quantise& cuda_quantise();
const SignCode& cuda_sign_code();
const Gemm& cuda_gemm();
const LowRank& cuda_low_rank();
const Sketch& cuda_sketch();
const StreamOps& cuda_stream_ops();
const Ternary& cuda_ternary();
const TopK& cuda_top_k();
const XorCode& cuda_xor_code();

}  // namespace windtunnel
