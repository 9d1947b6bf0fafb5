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

struct FittedConstants {
  std::vector<double> values;  // in the order of the constants
  // Nine tenths of the rows have a residual within this when all of their fold are left out: what a
  // row that was not fitted on may be expected to be off by. Of several divisions into folds, the
  // worst.
  double unseen = 0;
};

// `clusters`: one per row, those of a cluster err together; `noise`: first guess of a residual.
// `residual(constants, row)` is called from so many threads at once. `folds`: further divisions
// beside the clusters, a number per row.
FittedConstants fitted_constants(
    const std::vector<FittedConstant>& constants, const std::vector<int>& clusters, double noise,
    const std::function<double(const std::vector<double>&, std::size_t)>& residual, int threads,
    const std::vector<std::vector<int>>& folds = {});

}  // namespace windtunnel
