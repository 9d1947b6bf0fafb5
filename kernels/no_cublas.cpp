// The CUDA entries that need cuBLAS, where the project is built without it: they say so, and
// refuse.
#include "kernels/cuda_entries.hpp"
#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr const char* kReason = "built without cuBLAS";

constexpr Gemm kGemm = {
    [](GemmType) { return std::string(kReason); },
    [](const GemmWork&) -> std::function<void()> { throw Error(kReason); },
};

}  // namespace

const Gemm& cuda_gemm() {
  return kGemm;
}

}  // namespace windtunnel
