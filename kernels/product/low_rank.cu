#include <cublas_v2.h>

#include <map>
#include <memory>
#include <type_traits>

#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_entries.hpp"
#include "kernels/device/work_stream.cuh"
#include "kernels/product/cublas_check.cuh"
#include "kernels/product/cublas_library.hpp"
#include "kernels/product/low_rank.hpp"
#include "kernels/product/orthonormal_team.cuh"
#include "kernels/product/thin_product.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;  // recommended for Hopper by cuBLAS

struct Block {
  int thread = static_cast<int>(threadIdx.x);
  int size = static_cast<int>(blockDim.x);
  __device__ Block() {}
  __device__ void sync() const { __syncthreads(); }
};

// Each stream has a cuBLAS handle with a workspace of ours, since a graph cannot capture cuBLAS's
// own allocations.
class Library {
 public:
  explicit Library(cudaStream_t stream) : workspace_(cuda_device(), kWorkspaceBytes) {
    cublasHandle_t created = nullptr;
    CHECK_CUBLAS(cublasCreate(&created));
    handle_.reset(created);
    CHECK_CUBLAS(cublasSetStream(created, stream));
    CHECK_CUBLAS(cublasSetWorkspace(created, workspace_.data(), workspace_.size_bytes()));
  }
  cublasHandle_t handle() const { return handle_.get(); }

 private:
  struct Destroy {
    void operator()(cublasHandle_t handle) const { cublasDestroy(handle); }
  };
  DeviceBuffer workspace_;
  std::unique_ptr<std::remove_pointer_t<cublasHandle_t>, Destroy> handle_;
};

// Created at a stream's first product; lives as long as the process.
cublasHandle_t library() {
  static auto* const by_stream = new std::map<cudaStream_t, Library>;
  return by_stream->try_emplace(work_stream(), work_stream()).first->second.handle();
}

// A matrix of a batch as the column-major library sees it: its columns are our rows.
struct Operand {
  const float* data;
  cublasOperation_t operation;
  int leading;       // floats per row
  long long stride;  // floats per matrix
};

// out (rows x columns, column-major) = sign * left * right + keep * out.
struct Result {
  float* data;
  int rows, columns, inner;
  float sign, keep;
};

void multiply(int batch, const Operand& left, const Operand& right, const Result& out) {
  CHECK_CUBLAS(cublasSgemmStridedBatched(
      library(), left.operation, right.operation, out.rows, out.columns, out.inner, &out.sign,
      left.data, left.leading, left.stride, right.data, right.leading, right.stride, &out.keep,
      out.data, out.rows, static_cast<long long>(out.rows) * out.columns, batch));
}

Operand plain(const float* data, int rows, int columns) {
  return {data, CUBLAS_OP_N, columns, static_cast<long long>(rows) * columns};
}
Operand transposed(const float* data, int rows, int columns) {
  return {data, CUBLAS_OP_T, columns, static_cast<long long>(rows) * columns};
}

// Since cuBLAS is column-major, it computes the transpose P^T = Q^T M^T.
void project(const LowRankShape& shape, const float* gradient, const float* q, float* p) {
  if (shape.r <= kMaxThinRank) return thin_project(shape, gradient, q, p);
  const auto& [batch, m, n, r] = shape;
  multiply(batch, plain(q, n, r), plain(gradient, m, n), {p, r, m, n, 1, 0});
}

// Q^T = P^T M
void back_project(const LowRankShape& shape, const float* gradient, const float* p, float* q) {
  if (shape.r <= kMaxThinRank) return thin_back_project(shape, gradient, p, q);
  const auto& [batch, m, n, r] = shape;
  multiply(batch, plain(p, m, r), transposed(gradient, m, n), {q, r, n, m, 1, 0});
}

// M^T -= Q P^T
void subtract(const LowRankShape& shape, const float* p, const float* q, float* gradient) {
  if (shape.r <= kMaxThinRank) return thin_subtract(shape, p, q, gradient);
  const auto& [batch, m, n, r] = shape;
  multiply(batch, transposed(q, n, r), plain(p, m, r), {gradient, n, m, r, -1, 1});
}

constexpr int kSide = 16;

// Sums part blockIdx.x of the Gram matrix of matrix blockIdx.y.
template <int kTile>
__global__ void __launch_bounds__(kSide* kSide)
    gram_kernel(int m, int r, const float* matrices, float* parts) {
  __shared__ float rows[kGramRows * kSide * kTile];
  const std::size_t index = std::size_t{blockIdx.y} * gridDim.x + blockIdx.x;
  sum_gram_part<kSide, kTile>(Block(), m, r, static_cast<int>(blockIdx.x),
                              matrices + std::size_t{blockIdx.y} * m * r, parts + index * r * r,
                              rows);
}

template <int kTile>
void launch_gram(int batch, int m, int r, const float* matrices, float* parts) {
  const dim3 blocks(static_cast<unsigned>(gram_parts(m)), static_cast<unsigned>(batch));
  gram_kernel<kTile><<<blocks, kSide * kSide, 0, work_stream()>>>(m, r, matrices, parts);
  CHECK_CUDA(cudaGetLastError());
}

void sum_gram(int batch, int m, int r, const float* matrices, float* parts) {
  if (r <= kSide) {
    launch_gram<1>(batch, m, r, matrices, parts);
  } else if (r <= 2 * kSide) {
    launch_gram<2>(batch, m, r, matrices, parts);
  } else {
    launch_gram<4>(batch, m, r, matrices, parts);
  }
}

__global__ void __launch_bounds__(kMaxTeam)
    invert_kernel(int m, int r, const float* parts, float* given, float* other, float* inverses) {
  __shared__ GramMemory gram_memory;
  __shared__ ReflectionMemory reflection_memory;
  const std::size_t square = static_cast<std::size_t>(r) * r;
  const std::size_t start = std::size_t{blockIdx.x} * m * r;
  invert_or_reflect(Block(), m, r, parts + blockIdx.x * square * gram_parts(m), given + start,
                    other + start, inverses + blockIdx.x * square, gram_memory, reflection_memory);
}

void orthonormalise(int batch, int m, int r, float* p, std::byte* workspace) {
  CHECK(batch >= 1 && batch <= kMaxBatch && r >= 1 && r <= kMaxRank && r <= m,
        "{} matrices of {} x {}", batch, m, r);
  const OrthonormalWorkspace parts(batch, m, r, workspace);
  float* from = p;
  float* to = parts.other;
  for (int half = 0; half < 2; ++half) {
    sum_gram(batch, m, r, from, parts.gram);
    invert_kernel<<<static_cast<unsigned>(batch), kMaxTeam, 0, work_stream()>>>(
        m, r, parts.gram, from, to, parts.inverse);
    CHECK_CUDA(cudaGetLastError());
    multiply(batch, plain(parts.inverse, r, r), plain(from, m, r), {to, r, m, r, 1, 0});
    std::swap(from, to);
  }
}

std::string why_unusable() {
  const std::string reason = cuda_device().why_unusable();
  return reason.empty() ? why_no_cublas() : reason;
}

constexpr LowRank kCuda = {why_unusable, project, back_project, subtract, orthonormalise};

}  // namespace

const LowRank& cuda_low_rank() {
  return kCuda;
}

}  // namespace windtunnel
