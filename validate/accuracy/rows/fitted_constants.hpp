// Fits positive constants by their logarithms to measured rows (models/base/fit/fit.hpp), each with
// a prior around a guess.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace windtunnel {

struct FittedConstant {
  double guess = 0;
  double spread = 0;  // of the prior, as a factor
};

struct FittedConstants {
  std::vector<double> values;  // one per constant
  // A bound for the residual of nine tenths of the rows when their fold is left out, which is the
  // expected error of an unseen row. If there are several divisions into folds, the worst counts.
  double unseen = 0;
};

// `clusters` has a number per row; errors within a cluster are correlated. `noise` is a first guess
// of a residual. `residual(constants, row)` is called from `threads` threads in parallel. `folds`
// are further divisions besides the clusters, each with a number per row.
FittedConstants fitted_constants(
    const std::vector<FittedConstant>& constants, const std::vector<int>& clusters, double noise,
    const std::function<double(const std::vector<double>&, std::size_t)>& residual, int threads,
    const std::vector<std::vector<int>>& folds = {});

}  // namespace windtunnel
