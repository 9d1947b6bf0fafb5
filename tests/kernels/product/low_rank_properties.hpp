// What must hold of low-rank steps on any device, against Eigen in double; one test file per device
// calls it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/product/low_rank.hpp"
#include "tests/kernels/float_inputs.hpp"

namespace windtunnel {

// m x r, row by row, of random directions and singular values from 1 down to 1 / condition.
Floats conditioned(RandomStream& random, int m, int r, double condition);

// Matrices of the kinds of float_inputs.hpp and of every kind that orthonormalisation finds hard.
std::vector<std::pair<std::string, Floats>> kinds_of_matrices(RandomStream& random, int m, int r);

// That `result` has orthonormal columns that span `given`'s, first j for first j; of a matrix that
// is not finite, that it is NaN. The span as exact as `tolerance`, columns of `given` scaled to 1.
void expect_orthonormal(const Floats& given, const Floats& result, int m, int r, double tolerance);

// Every kind of matrix, each alone and all in one batch; products with random factors, all arrays
// `offset` floats behind aligned memory; whole steps.
void expect_orthonormal_kinds(DeviceKind kind, int m, int r, std::uint64_t seed);
void expect_products(DeviceKind kind, const LowRankShape& shape, std::uint64_t seed,
                     std::size_t offset = 0);
void expect_step_of_low_rank(DeviceKind kind, const LowRankShape& shape, std::uint64_t seed);

}  // namespace windtunnel
