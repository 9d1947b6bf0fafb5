// Constants above 0 fitted by their logarithms under measured rows (models/base/fit/fit.hpp), each
// with a prior around a guess.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace windtunnel {

struct FittedConstant {
  double guess = 0;
  double spread = 0;  // of the prior, a factor
};

// `clusters`: one per row, those of a cluster err together; `noise`: first guess of a residual.
// `residual(constants, row)` is called from so many threads at once. In the order of `constants`.
std::vector<double> fitted_constants(
    const std::vector<FittedConstant>& constants, const std::vector<int>& clusters, double noise,
    const std::function<double(const std::vector<double>&, std::size_t)>& residual, int threads);

}  // namespace windtunnel
