// The CUDA entries that need cuBLAS, for a build without it: they report this, and refuse to run.
#include "kernels/device/cuda_entries.hpp"
#include "kernels/product/gemm.hpp"
#include "kernels/product/low_rank.hpp"
#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr const char* kReason = "built without cuBLAS";

[[noreturn]] void refuse() {
  throw Error(kReason);
}

constexpr Gemm kGemm = {
    [](GemmType) { return std::string(kReason); },
    [](const GemmWork&) -> std::function<void()> { refuse(); },
};

constexpr LowRank kLowRank = {
    [] { return std::string(kReason); },
    [](const LowRankShape&, const float*, const float*, float*) { refuse(); },
    [](const LowRankShape&, const float*, const float*, float*) { refuse(); },
    [](const LowRankShape&, const float*, const float*, float*) { refuse(); },
    [](int, int, int, float*, std::byte*) { refuse(); },
};

}  // namespace

const Gemm& cuda_gemm() {
  return kGemm;
}
const LowRank& cuda_low_rank() {
  return kLowRank;
}

}  // namespace windtunnel
