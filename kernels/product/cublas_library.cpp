#include "kernels/product/cublas_library.hpp"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <dlfcn.h>

#include <array>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// Opens a library by the name that matches the header or, if the system does not find it, in the
// toolkit's folders: that of the build, and the usual one.
class Library {
 public:
  explicit Library(const std::string& name)
      : file_(fmt::format("{}.so.{}", name, CUBLAS_VER_MAJOR)) {
    constexpr std::array kFolders = {"", WINDTUNNEL_CUDA_LIBRARIES "/", "/usr/local/cuda/lib64/"};
    for (const char* folder : kFolders) {
      library_ = dlopen((folder + file_).c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library_ != nullptr) return;
      if (fault_.empty()) fault_ = dlerror();
    }
    fault_ = fmt::format(
        "cuBLAS was not found ({}); install the CUDA toolkit {}, or add the folder of its "
        "libraries to LD_LIBRARY_PATH",
        fault_, CUBLAS_VER_MAJOR);
  }

  const std::string& fault() const { return library_ == nullptr ? fault_ : none_; }

  template <typename Function>
  Function find(const char* name) const {
    if (library_ == nullptr) throw Error(fault_);
    void* const function = dlsym(library_, name);
    if (function == nullptr) throw Error(fmt::format("{} has no {}", file_, name));
    return reinterpret_cast<Function>(function);
  }

 private:
  std::string file_;
  std::string fault_;
  std::string none_;
  void* library_ = nullptr;
};

const Library& lt() {
  static const Library library("libcublasLt");
  return library;
}

// libcublas needs libcublasLt to be open, wherever that was found.
const Library& blas() {
  lt();
  static const Library library("libcublas");
  return library;
}

}  // namespace

std::string why_no_cublas() {
  return lt().fault().empty() ? blas().fault() : lt().fault();
}

}  // namespace windtunnel

// Some NAMEs are macros: the library's symbol is what they expand to.
#define TEXT_OF(name) #name
#define FORWARD(result, library, name, parameters, arguments)                                  \
  extern "C" result name parameters {                                                          \
    static const auto function = windtunnel::library().find<decltype(&(name))>(TEXT_OF(name)); \
    return function arguments;                                                                 \
  }

// clang-format off
FORWARD(const char*, lt, cublasLtGetStatusString, (cublasStatus_t status), (status))
FORWARD(cublasStatus_t, lt, cublasLtCreate, (cublasLtHandle_t* handle), (handle))
FORWARD(cublasStatus_t, lt, cublasLtMatmulDescCreate,
        (cublasLtMatmulDesc_t* operation, cublasComputeType_t compute, cudaDataType_t scale),
        (operation, compute, scale))
FORWARD(cublasStatus_t, lt, cublasLtMatmulDescDestroy, (cublasLtMatmulDesc_t operation),
        (operation))
FORWARD(cublasStatus_t, lt, cublasLtMatmulDescSetAttribute,
        (cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute,
         const void* value, size_t size),
        (operation, attribute, value, size))
FORWARD(cublasStatus_t, lt, cublasLtMatrixLayoutCreate,
        (cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows, uint64_t columns,
         int64_t stride),
        (layout, type, rows, columns, stride))
FORWARD(cublasStatus_t, lt, cublasLtMatrixLayoutDestroy, (cublasLtMatrixLayout_t layout), (layout))
FORWARD(cublasStatus_t, lt, cublasLtMatmulPreferenceCreate, (cublasLtMatmulPreference_t* wish),
        (wish))
FORWARD(cublasStatus_t, lt, cublasLtMatmulPreferenceDestroy, (cublasLtMatmulPreference_t wish),
        (wish))
FORWARD(cublasStatus_t, lt, cublasLtMatmulPreferenceSetAttribute,
        (cublasLtMatmulPreference_t wish, cublasLtMatmulPreferenceAttributes_t attribute,
         const void* value, size_t size),
        (wish, attribute, value, size))
FORWARD(cublasStatus_t, lt, cublasLtMatmulAlgoGetHeuristic,
        (cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a,
         cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
         cublasLtMatmulPreference_t wish, int asked, cublasLtMatmulHeuristicResult_t results[],
         int* count),
        (handle, operation, a, b, c, d, wish, asked, results, count))
FORWARD(cublasStatus_t, lt, cublasLtMatmul,
        (cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void* alpha, const void* a,
         cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
         const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
         cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm, void* workspace,
         size_t workspace_size, cudaStream_t stream),
        (handle, operation, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout,
         algorithm, workspace, workspace_size, stream))
FORWARD(cublasStatus_t, blas, cublasCreate, (cublasHandle_t* handle), (handle))
FORWARD(cublasStatus_t, blas, cublasDestroy, (cublasHandle_t handle), (handle))
FORWARD(cublasStatus_t, blas, cublasSetStream, (cublasHandle_t handle, cudaStream_t stream),
        (handle, stream))
FORWARD(cublasStatus_t, blas, cublasSetWorkspace,
        (cublasHandle_t handle, void* workspace, size_t size), (handle, workspace, size))
FORWARD(cublasStatus_t, blas, cublasSgemmStridedBatched,
        (cublasHandle_t handle, cublasOperation_t a_form, cublasOperation_t b_form, int m, int n,
         int k, const float* alpha, const float* a, int a_stride, long long a_step, const float* b,
         int b_stride, long long b_step, const float* beta, float* c, int c_stride,
         long long c_step, int count),
        (handle, a_form, b_form, m, n, k, alpha, a, a_stride, a_step, b, b_stride, b_step, beta, c,
         c_stride, c_step, count))
// clang-format on
