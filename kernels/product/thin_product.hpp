// CUDA kernels compute the products of low_rank.hpp for factors with few columns (r <=
// kMaxThinRank).
#pragma once

#include "kernels/product/low_rank.hpp"

namespace windtunnel {

constexpr int kMaxThinRank = 16;

void thin_project(const LowRankShape& shape, const float* gradient, const float* q, float* p);
void thin_back_project(const LowRankShape& shape, const float* gradient, const float* p, float* q);
void thin_subtract(const LowRankShape& shape, const float* p, const float* q, float* gradient);

}  // namespace windtunnel
