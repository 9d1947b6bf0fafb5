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

// Returns an m x r matrix, row by row, with random directions and singular values from 1 down to 1
// / condition.
Floats conditioned(RandomStream& random, int m, int r, double condition);

// Makes matrices of the kinds of float_inputs.hpp, and kinds that are hard to orthonormalise.
std::vector<std::pair<std::string, Floats>> kinds_of_matrices(RandomStream& random, int m, int r);

// Expects that `result` has orthonormal columns, and that for every j its first j columns span the
// same space as the first j of `given`. If `given` is not finite, expects NaN. `tolerance` bounds
// the error of the span, with columns of `given` scaled to 1.
void expect_orthonormal(const Floats& given, const Floats& result, int m, int r, double tolerance);

// These test every kind of matrix, alone and all in one batch; products with random factors, with
// arrays that start `offset` floats behind aligned memory; and whole steps.
void expect_orthonormal_kinds(DeviceKind kind, int m, int r, std::uint64_t seed);
void expect_products(DeviceKind kind, const LowRankShape& shape, std::uint64_t seed,
                     std::size_t offset = 0);
void expect_step_of_low_rank(DeviceKind kind, const LowRankShape& shape, std::uint64_t seed);

}  // namespace windtunnel
