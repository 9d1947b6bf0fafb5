#include <cublas_v2.h>

#include <Eigen/Core>
#include <cstring>

#include "kernels/device/number_words.cuh"
#include "kernels/product/cublas_library.hpp"

struct cublasLtMatmulDescOpaque {
  bool transposed_a = false, transposed_b = false;
};
struct cublasLtMatrixLayoutOpaque {
  cudaDataType type;
  std::int64_t rows, columns, stride;
};
struct cublasLtMatmulPreferenceOpaque {};
struct cublasContext {
  cudaStream_t stream = nullptr;
};

namespace windtunnel {

std::string why_no_cublas() {
  return "";
}

}  // namespace windtunnel

namespace {

double value_at(const void* data, cudaDataType type, std::int64_t i) {
  switch (type) {
    case CUDA_R_32F:
      return static_cast<const float*>(data)[i];
    case CUDA_R_16F:
      return static_cast<float>(static_cast<const Eigen::half*>(data)[i]);
    case CUDA_R_16BF:
      return static_cast<float>(static_cast<const Eigen::bfloat16*>(data)[i]);
    case CUDA_R_8F_E4M3:
      return windtunnel::float_of_e4m3(static_cast<const std::uint8_t*>(data)[i]);
  }
  return 0;
}

// Overwrites both ends of a workspace with junk. cuBLAS may leave anything there, and an array that
// overlaps the workspace overlaps one of its ends. Filling all 32 MiB would take most of the time
// of a small product.
void spoil(void* workspace, std::size_t size) {
  constexpr int kJunk = 0x5a;
  const std::size_t end = std::min<std::size_t>(size, 64 << 10);
  auto* const first = static_cast<std::byte*>(workspace);
  std::memset(first, kJunk, end);
  std::memset(first + (size - end), kJunk, end);
}

// Reads a matrix that is stored column by column.
Eigen::MatrixXd read(const void* data, cudaDataType type, std::int64_t rows, std::int64_t columns,
                     std::int64_t stride) {
  Eigen::MatrixXd values(rows, columns);
  for (std::int64_t column = 0; column < columns; ++column) {
    for (std::int64_t row = 0; row < rows; ++row) {
      values(row, column) = value_at(data, type, column * stride + row);
    }
  }
  return values;
}

void store(void* data, cudaDataType type, std::int64_t i, double value) {
  const auto number = static_cast<float>(value);
  if (type == CUDA_R_32F) static_cast<float*>(data)[i] = number;
  if (type == CUDA_R_16F) static_cast<Eigen::half*>(data)[i] = Eigen::half(number);
  if (type == CUDA_R_16BF) static_cast<Eigen::bfloat16*>(data)[i] = Eigen::bfloat16(number);
}

cublasStatus_t status_of(bool valid) {
  return valid ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

// Enqueues the work on the stream.
cublasStatus_t status_of(cudaStream_t stream, std::function<void()> work) {
  return cuda_host::enqueue(stream, std::move(work)) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_EXECUTION_FAILED;
}

// These are the sizes of op(layout).
std::int64_t rows_of(const cublasLtMatrixLayoutOpaque& layout, bool transposed) {
  return transposed ? layout.columns : layout.rows;
}
std::int64_t columns_of(const cublasLtMatrixLayoutOpaque& layout, bool transposed) {
  return transposed ? layout.rows : layout.columns;
}

// On Hopper an fp8 product needs a transposed first factor, a second one that is not, and sizes
// that are multiples of 16.
cublasStatus_t status_of(const cublasLtMatmulDescOpaque& operation,
                         const cublasLtMatrixLayoutOpaque& a, const cublasLtMatrixLayoutOpaque& b,
                         const cublasLtMatrixLayoutOpaque& d) {
  const bool fits = rows_of(a, operation.transposed_a) == d.rows &&
                    columns_of(a, operation.transposed_a) == rows_of(b, operation.transposed_b) &&
                    columns_of(b, operation.transposed_b) == d.columns;
  const bool fp8 = a.type == CUDA_R_8F_E4M3;
  const bool allowed = !fp8 || (operation.transposed_a && !operation.transposed_b &&
                                a.rows % 16 == 0 && d.rows % 16 == 0 && d.columns % 16 == 0);
  if (!fits) return CUBLAS_STATUS_INVALID_VALUE;
  return allowed ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

}  // namespace

const char* cublasLtGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
  }
  return "";
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  static int one = 0;
  *handle = reinterpret_cast<cublasLtHandle_t>(&one);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* operation,
                                        cublasComputeType_t /*compute*/, cudaDataType_t scale) {
  *operation = new cublasLtMatmulDescOpaque;
  return status_of(scale == CUDA_R_32F);
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  delete operation;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t size) {
  if (attribute == CUBLASLT_MATMUL_DESC_FAST_ACCUM) return status_of(size == sizeof(std::int8_t));
  if (size != sizeof(cublasOperation_t)) return CUBLAS_STATUS_INVALID_VALUE;
  cublasOperation_t form = CUBLAS_OP_N;
  std::memcpy(&form, value, size);
  (attribute == CUBLASLT_MATMUL_DESC_TRANSA ? operation->transposed_a : operation->transposed_b) =
      form == CUBLAS_OP_T;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t stride) {
  const auto height = static_cast<std::int64_t>(rows);
  *layout =
      new cublasLtMatrixLayoutOpaque{type, height, static_cast<std::int64_t>(columns), stride};
  return status_of(stride >= height);
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* wish) {
  *wish = new cublasLtMatmulPreferenceOpaque;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t wish) {
  delete wish;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t /*wish*/, cublasLtMatmulPreferenceAttributes_t /*attribute*/,
    const void* /*value*/, std::size_t size) {
  return status_of(size == sizeof(std::uint64_t));
}

// The second proposed algorithm fails when it is launched, as those of the real library may.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t /*handle*/, cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t /*c*/, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t /*wish*/, int asked, cublasLtMatmulHeuristicResult_t results[],
    int* count) {
  *count = 0;
  const cublasStatus_t status = status_of(*operation, *a, *b, *d);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  for (; *count < std::min(asked, 3); ++*count) {
    results[*count] = {{{static_cast<std::uint64_t>(*count)}}, 0, CUBLAS_STATUS_SUCCESS};
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t /*handle*/, cublasLtMatmulDesc_t operation,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t /*c_layout*/, void* d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_size, cudaStream_t stream) {
  if (algorithm->data[0] == 1) return CUBLAS_STATUS_NOT_SUPPORTED;
  const cublasStatus_t status = status_of(*operation, *a_layout, *b_layout, *d_layout);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const bool plain =
      *static_cast<const float*>(alpha) == 1 && *static_cast<const float*>(beta) == 0 && c == d;
  if (!plain) return CUBLAS_STATUS_NOT_SUPPORTED;
  const cublasLtMatrixLayoutOpaque left = *a_layout;
  const cublasLtMatrixLayoutOpaque right = *b_layout;
  const cublasLtMatrixLayoutOpaque out = *d_layout;
  const cublasLtMatmulDescOpaque form = *operation;
  return status_of(stream, [=] {
    spoil(workspace, workspace_size);
    Eigen::MatrixXd first = read(a, left.type, left.rows, left.columns, left.stride);
    Eigen::MatrixXd second = read(b, right.type, right.rows, right.columns, right.stride);
    if (form.transposed_a) first.transposeInPlace();
    if (form.transposed_b) second.transposeInPlace();
    const Eigen::MatrixXd product = first * second;
    for (std::int64_t column = 0; column < out.columns; ++column) {
      for (std::int64_t row = 0; row < out.rows; ++row) {
        store(d, out.type, column * out.stride + row, product(row, column));
      }
    }
  });
}

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t /*handle*/, void* /*workspace*/,
                                  std::size_t /*size*/) {
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t a_form,
                                         cublasOperation_t b_form, int m, int n, int k,
                                         const float* alpha, const float* a, int a_stride,
                                         long long a_step, const float* b, int b_stride,
                                         long long b_step, const float* beta, float* c,
                                         int c_stride, long long c_step, int count) {
  const bool valid = m >= 0 && n >= 0 && k >= 0 && count >= 0 &&
                     a_stride >= (a_form == CUBLAS_OP_N ? m : k) &&
                     b_stride >= (b_form == CUBLAS_OP_N ? k : n) && c_stride >= m;
  if (!valid) return CUBLAS_STATUS_INVALID_VALUE;
  const float sign = *alpha;
  const float keep = *beta;
  return status_of(handle->stream, [=] {
    const bool turned_a = a_form == CUBLAS_OP_T;
    const bool turned_b = b_form == CUBLAS_OP_T;
    for (int i = 0; i < count; ++i) {
      Eigen::MatrixXd first =
          read(a + i * a_step, CUDA_R_32F, turned_a ? k : m, turned_a ? m : k, a_stride);
      Eigen::MatrixXd second =
          read(b + i * b_step, CUDA_R_32F, turned_b ? n : k, turned_b ? k : n, b_stride);
      if (turned_a) first.transposeInPlace();
      if (turned_b) second.transposeInPlace();
      const Eigen::MatrixXd product = sign * (first * second);
      for (int column = 0; column < n; ++column) {
        for (int row = 0; row < m; ++row) {
          float& out = c[i * c_step + static_cast<long long>(column) * c_stride + row];
          out = static_cast<float>(product(row, column) + (keep == 0 ? 0 : keep * out));
        }
      }
    }
  });
}
