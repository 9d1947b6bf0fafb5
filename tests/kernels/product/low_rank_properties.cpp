#include "tests/kernels/product/low_rank_properties.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>

namespace windtunnel {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigen::MatrixXd;

MatrixXd as_matrix(const Floats& values, int rows, int columns, int index = 0) {
  return Eigen::Map<const RowMajor>(
             values.data() + static_cast<std::ptrdiff_t>(index) * rows * columns, rows, columns)
      .cast<double>();
}

Floats as_floats(const MatrixXd& matrix) {
  Floats values(static_cast<std::size_t>(matrix.size()));
  Eigen::Map<RowMajor>(values.data(), matrix.rows(), matrix.cols()) = matrix.cast<float>();
  return values;
}

MatrixXd random_matrix(RandomStream& random, int rows, int columns) {
  return as_matrix(random_floats(random, static_cast<std::size_t>(rows * columns)), rows, columns);
}

MatrixXd householder(const MatrixXd& matrix) {
  const Eigen::HouseholderQR<MatrixXd> factors(matrix);
  return factors.householderQ() * MatrixXd::Identity(matrix.rows(), matrix.cols());
}

std::size_t size_of(int batch, int rows, int columns) {
  return static_cast<std::size_t>(batch) * static_cast<std::size_t>(rows) *
         static_cast<std::size_t>(columns);
}

Floats orthonormalised(DeviceKind kind, const Floats& given, int batch, int m, int r) {
  const DeviceFloats matrices(kind, given);
  const DeviceBuffer workspace(device(kind), orthonormal_workspace_bytes(batch, m, r));
  low_rank(kind).orthonormalise(batch, m, r, matrices.data(), workspace.data());
  device(kind).synchronize();
  return matrices.download();
}

// Bounds the rounding error of a sum of `terms` products in fp32, in any order (Higham, "Accuracy
// and stability of numerical algorithms", section 3.1).
void expect_near(const MatrixXd& actual, const MatrixXd& expected, const MatrixXd& sizes,
                 int terms) {
  const double unit = std::ldexp(1, -24);
  const MatrixXd excess = (actual - expected).cwiseAbs() - (terms + 2) * unit * sizes;
  EXPECT_LE(excess.maxCoeff(), 0);
}

}  // namespace

Floats conditioned(RandomStream& random, int m, int r, double condition) {
  Eigen::VectorXd values(r);
  for (int i = 0; i < r; ++i) values[i] = std::pow(condition, -i / std::max(r - 1.0, 1.0));
  return as_floats(householder(random_matrix(random, m, r)) * values.asDiagonal() *
                   householder(random_matrix(random, r, r)).transpose());
}

std::vector<std::pair<std::string, Floats>> kinds_of_matrices(RandomStream& random, int m, int r) {
  const std::size_t size = size_of(1, m, r);
  auto kinds = kinds_of_floats(random, size);
  for (const double condition : {10.0, 300.0, 999.0, 1e3, 1e4, 1e6, 1e9, 1e30}) {
    kinds.emplace_back(fmt::format("condition {}", condition),
                       conditioned(random, m, r, condition));
  }
  for (const double scale : {1e-30, 1e-20, 1e-16, 1e17, 1e30}) {
    kinds.emplace_back(fmt::format("scale {}", scale),
                       as_floats(scale * random_matrix(random, m, r)));
  }
  MatrixXd uneven = random_matrix(random, m, r);
  for (int j = 0; j < r; ++j) uneven.col(j) *= std::pow(10.0, 30 - 60 * random.uniform());
  kinds.emplace_back("uneven columns", as_floats(uneven));
  MatrixXd gaps = random_matrix(random, m, r);
  for (int j = 0; j < r; j += 3) gaps.col(j).setZero();
  for (int j = 1; j < r; j += 3) gaps.col(j) = gaps.col(0);
  kinds.emplace_back("zero columns", as_floats(gaps));
  MatrixXd equal = random_matrix(random, m, r);
  for (int j = 1; j < r; j += 2) equal.col(j) = equal.col(j - 1);
  kinds.emplace_back("equal columns", as_floats(equal));
  kinds.emplace_back("upper triangular",
                     as_floats(random_matrix(random, m, r).triangularView<Eigen::Upper>()));
  kinds.emplace_back("zero", Floats(size));
  return kinds;
}

void expect_orthonormal(const Floats& given, const Floats& result, int m, int r, double tolerance) {
  MatrixXd p = as_matrix(given, m, r);
  const MatrixXd q = as_matrix(result, m, r);
  if (!p.allFinite()) {
    EXPECT_TRUE(q.array().isNaN().all());
    return;
  }
  EXPECT_LE((q.transpose() * q - MatrixXd::Identity(r, r)).norm(), 1e-5);
  for (int j = 0; j < r; ++j) {
    const double length = p.col(j).norm();
    if (length > 0) p.col(j) /= length;
  }
  const MatrixXd factor = q.transpose() * p;
  EXPECT_LE((p - q * factor).colwise().norm().maxCoeff(), tolerance);
  for (int j = 0; j < r; ++j) {
    EXPECT_LE(factor.col(j).tail(r - 1 - j).norm(), tolerance) << "column " << j;
  }
}

void expect_orthonormal_kinds(DeviceKind kind, int m, int r, std::uint64_t seed) {
  RandomStream random(seed, RandomPurpose::test, 0);
  const auto kinds = kinds_of_matrices(random, m, r);
  Floats all;
  for (const auto& [name, matrix] : kinds) {
    SCOPED_TRACE(fmt::format("{} x {}, {}", m, r, name));
    // The relative rounding error of Cholesky's method grows with the condition, which is at most
    // 1e3 here.
    expect_orthonormal(matrix, orthonormalised(kind, matrix, 1, m, r), m, r, 1e-4);
    all.insert(all.end(), matrix.begin(), matrix.end());
  }
  // Matrices of a batch do not influence each other.
  const int batch = static_cast<int>(kinds.size());
  const Floats result = orthonormalised(kind, all, batch, m, r);
  const auto size = static_cast<std::ptrdiff_t>(size_of(1, m, r));
  for (int i = 0; i < batch; ++i) {
    SCOPED_TRACE(fmt::format("{} x {}, {} in a batch", m, r, kinds[static_cast<size_t>(i)].first));
    const auto first = result.begin() + i * size;
    expect_orthonormal(kinds[static_cast<size_t>(i)].second, Floats(first, first + size), m, r,
                       1e-4);
  }
  // If the columns are well conditioned, the result is that of Gram-Schmidt.
  const Floats well = conditioned(random, m, r, 10);
  MatrixXd expected = householder(as_matrix(well, m, r));
  const MatrixXd along = expected.transpose() * as_matrix(well, m, r);
  for (int j = 0; j < r; ++j) {
    if (along(j, j) < 0) expected.col(j) *= -1;
  }
  EXPECT_LE((as_matrix(orthonormalised(kind, well, 1, m, r), m, r) - expected).norm(), 1e-4);
}

void expect_products(DeviceKind kind, const LowRankShape& shape, std::uint64_t seed,
                     std::size_t offset) {
  const auto& [batch, m, n, r] = shape;
  SCOPED_TRACE(fmt::format("{} of {} x {}, rank {}, from {}", batch, m, n, r, offset));
  RandomStream random(seed, RandomPurpose::test, 0);
  const Floats gradients = random_floats(random, size_of(batch, m, n));
  const Floats left = random_floats(random, size_of(batch, m, r));
  const Floats right = random_floats(random, size_of(batch, n, r));
  const DeviceFloats gradient(kind, gradients, offset);
  const DeviceFloats p(kind, left, offset), q(kind, right, offset);
  const DeviceFloats new_p(kind, Floats(left.size(), NAN), offset);
  const DeviceFloats new_q(kind, Floats(right.size(), NAN), offset);
  low_rank(kind).project(shape, gradient.data(), q.data(), new_p.data());
  low_rank(kind).back_project(shape, gradient.data(), p.data(), new_q.data());
  low_rank(kind).subtract(shape, p.data(), q.data(), gradient.data());
  device(kind).synchronize();
  const Floats projected = new_p.download(), back = new_q.download(), rest = gradient.download();
  for (int i = 0; i < batch; ++i) {
    const MatrixXd a = as_matrix(gradients, m, n, i);
    const MatrixXd b = as_matrix(left, m, r, i);
    const MatrixXd c = as_matrix(right, n, r, i);
    expect_near(as_matrix(projected, m, r, i), a * c, a.cwiseAbs() * c.cwiseAbs(), n);
    expect_near(as_matrix(back, n, r, i), a.transpose() * b,
                a.cwiseAbs().transpose() * b.cwiseAbs(), m);
    expect_near(as_matrix(rest, m, n, i), a - b * c.transpose(),
                a.cwiseAbs() + b.cwiseAbs() * c.cwiseAbs().transpose(), r);
  }
}

// A gradient of rank r has no error after one step. For any other, the error is orthogonal to P.
void expect_step_of_low_rank(DeviceKind kind, const LowRankShape& shape, std::uint64_t seed) {
  const auto& [batch, m, n, r] = shape;
  SCOPED_TRACE(fmt::format("{} of {} x {}, rank {}", batch, m, n, r));
  RandomStream random(seed, RandomPurpose::test, 0);
  Floats gradients;
  for (int i = 0; i < batch; ++i) {
    const Floats one =
        as_floats(i % 2 == 0 ? MatrixXd(random_matrix(random, m, r) * random_matrix(random, r, n))
                             : random_matrix(random, m, n));
    gradients.insert(gradients.end(), one.begin(), one.end());
  }
  const DeviceFloats gradient(kind, gradients);
  const DeviceFloats p(kind, Floats(size_of(batch, m, r)));
  const DeviceFloats q(kind, random_floats(random, size_of(batch, n, r)));
  const DeviceBuffer workspace(device(kind), orthonormal_workspace_bytes(batch, m, r));
  const LowRank& steps = low_rank(kind);
  steps.project(shape, gradient.data(), q.data(), p.data());
  steps.orthonormalise(batch, m, r, p.data(), workspace.data());
  steps.back_project(shape, gradient.data(), p.data(), q.data());
  steps.subtract(shape, p.data(), q.data(), gradient.data());
  device(kind).synchronize();
  const Floats errors = gradient.download();
  const Floats basis = p.download();
  for (int i = 0; i < batch; ++i) {
    const double size = as_matrix(gradients, m, n, i).norm();
    const MatrixXd error = as_matrix(errors, m, n, i);
    if (i % 2 == 0) {
      EXPECT_LE(error.norm(), 1e-4 * size);
    }
    EXPECT_LE((as_matrix(basis, m, r, i).transpose() * error).norm(), 1e-5 * size);
  }
}

}  // namespace windtunnel
