#include <algorithm>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_entries.hpp"
#include "kernels/device/work_stream.cuh"
#include "kernels/product/cublas_check.cuh"
#include "kernels/product/cublas_library.hpp"
#include "kernels/product/gemm.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;  // recommended for Hopper by cuBLAS
constexpr double kTimed_s = 200e-6;  // per proposal: launches and clock resolution are negligible
constexpr int kMostTimedRuns = 500;
constexpr int kRounds = 3;
constexpr int kFp8Capability = 89;  // Ada

struct Types {
  cudaDataType_t in, out;
  cublasComputeType_t compute;
};

Types types_of(GemmType type) {
  switch (type) {
    case GemmType::fp32:
      return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case GemmType::tf32:
      return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
    case GemmType::fp16:
      return {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F};
    case GemmType::bf16:
      return {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    case GemmType::fp8:
      return {CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
  }
  CHECK(false, "type {} of a product", static_cast<int>(type));
}

struct Destroy {
  void operator()(cublasLtMatmulDesc_t operation) const { cublasLtMatmulDescDestroy(operation); }
  void operator()(cublasLtMatrixLayout_t layout) const { cublasLtMatrixLayoutDestroy(layout); }
  void operator()(cublasLtMatmulPreference_t wish) const { cublasLtMatmulPreferenceDestroy(wish); }
};
using Operation = std::unique_ptr<std::remove_pointer_t<cublasLtMatmulDesc_t>, Destroy>;
using Layout = std::unique_ptr<std::remove_pointer_t<cublasLtMatrixLayout_t>, Destroy>;
using Preference = std::unique_ptr<std::remove_pointer_t<cublasLtMatmulPreference_t>, Destroy>;

cublasLtHandle_t library() {
  static const cublasLtHandle_t handle = [] {
    cublasLtHandle_t created = nullptr;
    CHECK_CUBLAS(cublasLtCreate(&created));
    return created;
  }();
  return handle;
}

// The workspace of each stream, whose works do not run in parallel. It lives as long as the
// process.
const DeviceBuffer& workspace() {
  static auto* const by_stream = new std::map<cudaStream_t, DeviceBuffer>;
  return by_stream->try_emplace(work_stream(), cuda_device(), kWorkspaceBytes).first->second;
}

template <typename Value>
void set(const Operation& operation, cublasLtMatmulDescAttributes_t attribute, Value value) {
  CHECK_CUBLAS(cublasLtMatmulDescSetAttribute(operation.get(), attribute, &value, sizeof value));
}

// Whether the library's first factor is stored by rows.
bool left_transposed(const GemmWork& work) {
  return work.type == GemmType::fp8 || work.transposed_b;
}

Operation make_operation(const GemmWork& work) {
  cublasLtMatmulDesc_t created = nullptr;
  CHECK_CUBLAS(cublasLtMatmulDescCreate(&created, types_of(work.type).compute, CUDA_R_32F));
  Operation operation(created);
  if (left_transposed(work)) set(operation, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  if (work.transposed_a) set(operation, CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_T);
  if (work.type == GemmType::fp8) {
    set(operation, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
  }
  return operation;
}

// Column-major without gaps.
Layout make_layout(cudaDataType_t type, int rows, int columns) {
  cublasLtMatrixLayout_t created = nullptr;
  CHECK_CUBLAS(cublasLtMatrixLayoutCreate(&created, type, static_cast<std::uint64_t>(rows),
                                          static_cast<std::uint64_t>(columns), rows));
  return Layout(created);
}

// The library is column-major: its B' A' = C' are our A, B and C.
class Product {
 public:
  explicit Product(const GemmWork& work)
      : work_(work),
        operation_(make_operation(work)),
        left_(left_transposed(work) ? make_layout(types_of(work.type).in, work.k, work.n)
                                    : make_layout(types_of(work.type).in, work.n, work.k)),
        right_(work.transposed_a ? make_layout(types_of(work.type).in, work.m, work.k)
                                 : make_layout(types_of(work.type).in, work.k, work.m)),
        out_(make_layout(types_of(work.type).out, work.n, work.m)) {
    workspace();  // must be allocated before any capture
    static auto* const known = new std::map<decltype(key()), cublasLtMatmulAlgo_t>;
    const auto found = known->find(key());
    algorithm_ = found != known->end() ? found->second : chosen(proposed());
    known->try_emplace(key(), algorithm_);
  }

  void start() const { start(algorithm_); }

 private:
  // The properties on which the choice of algorithm depends.
  std::tuple<GemmType, int, int, int, bool, bool, int> key() const {
    return {work_.type,         work_.m,        work_.n, work_.k, work_.transposed_a,
            work_.transposed_b, work_.proposals};
  }

  void start(const cublasLtMatmulAlgo_t& algorithm) const {
    const DeviceBuffer& room = workspace();
    const float one = 1;
    const float zero = 0;
    CHECK_CUBLAS(cublasLtMatmul(library(), operation_.get(), &one, work_.b, left_.get(), work_.a,
                                right_.get(), &zero, work_.c, out_.get(), work_.c, out_.get(),
                                &algorithm, room.data(), room.size_bytes(), work_stream()));
  }

  std::vector<cublasLtMatmulAlgo_t> proposed() const {
    cublasLtMatmulPreference_t created = nullptr;
    CHECK_CUBLAS(cublasLtMatmulPreferenceCreate(&created));
    const Preference wish(created);
    CHECK_CUBLAS(cublasLtMatmulPreferenceSetAttribute(wish.get(),
                                                      CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                      &kWorkspaceBytes, sizeof kWorkspaceBytes));
    std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(work_.proposals));
    int count = 0;
    // If there is no algorithm, the status says so.
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        library(), operation_.get(), left_.get(), right_.get(), out_.get(), out_.get(), wish.get(),
        work_.proposals, results.data(), &count);
    std::vector<cublasLtMatmulAlgo_t> algorithms;
    for (std::size_t i = 0; status == CUBLAS_STATUS_SUCCESS && i < std::size_t(count); ++i) {
      if (results[i].state == CUBLAS_STATUS_SUCCESS) algorithms.push_back(results[i].algo);
    }
    if (algorithms.empty()) {
      throw Error(fmt::format("cuBLASLt has no algorithm for a product of {} x {} x {}", work_.m,
                              work_.n, work_.k));
    }
    return algorithms;
  }

  double time_s(const cublasLtMatmulAlgo_t& algorithm, int runs) const {
    return cuda_device().time_s([&] { start(algorithm); }, runs) / runs;
  }

  // Returns the fastest proposal, or the first if none is faster. A proposal may be refused when it
  // starts; if all are, throws the error of the last. Each round times all proposals, so that a
  // change of the clock affects all of them.
  cublasLtMatmulAlgo_t chosen(const std::vector<cublasLtMatmulAlgo_t>& proposals) const {
    if (proposals.size() == 1) return proposals.front();
    std::vector<double> least_s(proposals.size(), std::numeric_limits<double>::infinity());
    std::vector<int> runs(proposals.size(), 0);
    std::exception_ptr fault;
    for (size_t i = 0; i < proposals.size(); ++i) {
      try {
        start(proposals[i]);
        const double about_s = time_s(proposals[i], 1);
        runs[i] = static_cast<int>(std::clamp(kTimed_s / about_s, 1.0, double{kMostTimedRuns}));
      } catch (const Error&) {
        fault = std::current_exception();
      }
    }
    if (*std::max_element(runs.begin(), runs.end()) == 0) std::rethrow_exception(fault);
    for (int round = 0; round < kRounds; ++round) {
      for (size_t i = 0; i < proposals.size(); ++i) {
        if (runs[i] > 0) least_s[i] = std::min(least_s[i], time_s(proposals[i], runs[i]));
      }
    }
    const auto fastest = std::min_element(least_s.begin(), least_s.end());
    return proposals[static_cast<size_t>(fastest - least_s.begin())];
  }

  GemmWork work_;
  Operation operation_;
  Layout left_, right_, out_;
  cublasLtMatmulAlgo_t algorithm_ = {};
};

std::string why_unusable(GemmType type) {
  std::string reason = cuda_device().why_unusable();
  if (reason.empty()) reason = why_no_cublas();
  if (!reason.empty() || type != GemmType::fp8) return reason;
  int index = 0;
  int major = 0;
  int minor = 0;
  CHECK_CUDA(cudaGetDevice(&index));
  CHECK_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, index));
  CHECK_CUDA(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, index));
  return 10 * major + minor >= kFp8Capability
             ? ""
             : fmt::format("fp8 needs compute capability 8.9, the device has {}.{}", major, minor);
}

std::function<void()> prepared(const GemmWork& work) {
  CHECK(work.m >= 1 && work.n >= 1 && work.k >= 1, "a product of {} x {} x {}", work.m, work.n,
        work.k);
  CHECK(work.type != GemmType::fp8 || !(work.transposed_a || work.transposed_b),
        "fp8 has an order of its own");
  const std::string reason = why_unusable(work.type);
  if (!reason.empty()) throw Error(reason);
  const auto product = std::make_shared<const Product>(work);
  return [product] { product->start(); };
}

constexpr Gemm kCuda = {why_unusable, prepared};

}  // namespace

const Gemm& cuda_gemm() {
  return kCuda;
}

}  // namespace windtunnel
