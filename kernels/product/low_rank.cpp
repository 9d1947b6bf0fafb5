#include "kernels/product/low_rank.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <utility>

#include "kernels/device/cuda_entries.hpp"
#include "kernels/product/orthonormal_team.cuh"
#include "models/base/error.hpp"

namespace windtunnel {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Reading = Eigen::Map<const Matrix>;
using Writing = Eigen::Map<Matrix>;

struct OneThread {
  int thread = 0;
  int size = 1;
  void sync() const {}
};

// The start of the i-th matrix of a batch.
std::ptrdiff_t start_of(int i, int rows, int columns) {
  return static_cast<std::ptrdiff_t>(i) * rows * columns;
}

void project(const LowRankShape& shape, const float* gradient, const float* q, float* p) {
  const auto& [batch, m, n, r] = shape;
  for (int i = 0; i < batch; ++i) {
    Writing(p + start_of(i, m, r), m, r).noalias() =
        Reading(gradient + start_of(i, m, n), m, n) * Reading(q + start_of(i, n, r), n, r);
  }
}

void back_project(const LowRankShape& shape, const float* gradient, const float* p, float* q) {
  const auto& [batch, m, n, r] = shape;
  for (int i = 0; i < batch; ++i) {
    Writing(q + start_of(i, n, r), n, r).noalias() =
        Reading(gradient + start_of(i, m, n), m, n).transpose() *
        Reading(p + start_of(i, m, r), m, r);
  }
}

void subtract(const LowRankShape& shape, const float* p, const float* q, float* gradient) {
  const auto& [batch, m, n, r] = shape;
  for (int i = 0; i < batch; ++i) {
    Writing(gradient + start_of(i, m, n), m, n).noalias() -=
        Reading(p + start_of(i, m, r), m, r) * Reading(q + start_of(i, n, r), n, r).transpose();
  }
}

// Sums A^T A in the same parts as the CUDA form.
void sum_gram(const Reading& a, float* parts) {
  const Eigen::Index r = a.cols();
  for (Eigen::Index part = 0; part < gram_parts(static_cast<int>(a.rows())); ++part) {
    Writing sum(parts + part * r * r, r, r);
    sum.setZero();
    const Eigen::Index end = std::min<Eigen::Index>((part + 1) * kGramPartRows, a.rows());
    for (Eigen::Index row = part * kGramPartRows; row < end; row += kGramRows) {
      const auto rows = a.middleRows(row, std::min<Eigen::Index>(kGramRows, end - row));
      sum.noalias() += rows.transpose() * rows;
    }
  }
}

void orthonormalise(int batch, int m, int r, float* p, std::byte* workspace) {
  CHECK(batch >= 1 && r >= 1 && r <= kMaxRank && r <= m, "{} matrices of {} x {}", batch, m, r);
  const OrthonormalWorkspace parts(batch, m, r, workspace);
  GramMemory gram_memory;
  ReflectionMemory reflection_memory;
  for (int i = 0; i < batch; ++i) {
    float* from = p + start_of(i, m, r);
    float* to = parts.other;
    for (int half = 0; half < 2; ++half) {
      sum_gram(Reading(from, m, r), parts.gram);
      invert_or_reflect(OneThread(), m, r, parts.gram, from, to, parts.inverse, gram_memory,
                        reflection_memory);
      Writing(to, m, r).noalias() = Reading(from, m, r) * Reading(parts.inverse, r, r);
      std::swap(from, to);
    }
  }
}

constexpr LowRank kCpu = {[] { return std::string(); }, project, back_project, subtract,
                          orthonormalise};

}  // namespace

std::size_t orthonormal_workspace_bytes(int batch, int m, int r) {
  return OrthonormalWorkspace(batch, m, r, nullptr).size_bytes;
}

const LowRank& low_rank(DeviceKind kind) {
  return kind == DeviceKind::cuda ? cuda_low_rank() : kCpu;
}

}  // namespace windtunnel
