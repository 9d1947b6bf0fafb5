// Time of measured kernels by their own laws (fitted on samples by kernel_law_fit.hpp), and what
// compositions of them take: steps one after the other, works side by side as long as the longest.
//
// Matrix products: t = a + b flops + c bytes, all >= 0, and what shapes near this one differed by:
// libraries cut them into tiles, and some sizes fall on the same lines of a cache. Everything else:
// a curve over the bytes moved (time_curve.hpp), one for each set of the other sizes (a code's k
// and m, a type).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/calibration/kernel_work.hpp"
#include "models/calibration/slowdown.hpp"
#include "models/calibration/time_curve.hpp"

namespace windtunnel {

// How far the measured time of a product lies from the line.
struct MeasuredShape {
  double m = 0, n = 0, k = 0;
  double residual = 0;  // log(measured / line)
  double weight = 1;    // share of the variance of residuals that is no doubt about this one
};

struct KernelLaw {
  std::string key;       // law_key(): "gemm type=fp32", "rs-encode k=8 m=2", "copy cold"
  TimeCurve curve = {};  // without sizes: the line below
  double fixed_s = 0;
  double flop_s = 0;
  double byte_s = 0;
  std::vector<MeasuredShape> shapes = {};  // of products
  double spread = 0;           // standard deviation of log(measured / law), left out in turn
  double least = 0, most = 0;  // bytes of the smallest and the largest work fitted on
  Slowdown slowdown = {};      // beside others; the law is of works alone
  double disturbed = 0;        // mean share that others were beside the works it was fitted on
};

struct KernelLaws {
  std::vector<KernelLaw> laws;
  // Standard deviation of log(measured / measured before): what a run differs by from the next.
  double run_spread = 0;
};

struct PredictedTime {
  double seconds = 0;
  double low_s = 0, high_s = 0;  // 90 %
};

// The kernel, and what tells its laws apart.
std::string law_key(const KernelWork& work, CacheState cache = CacheState::warm);

// By the key of warm caches. Where one state of the caches was measured alone, that; nullptr:
// neither was. A training step comes back to a buffer when it has been through all others: cold.
const KernelLaw* find_law(const KernelLaws& laws, std::string_view key,
                          CacheState cache = CacheState::cold);

// Read and written by all works.
double bytes_moved(const KernelSteps& steps);

// The time of a work that moves `bytes` and executes `flops`.
double law_time(const KernelLaw& law, double flops, double bytes);
// By its shape too.
double law_time(const KernelLaw& law, const KernelWork& work);

// The time of a product of this shape over the line: exp of the residuals nearby, weighted by a
// normal law of the distance in log m, n, k (Nadaraya 1964, Watson 1964; shrunk to 1 where none is
// near).
double shape_factor(const KernelLaw& law, double m, double n, double k);

// The time of steps that run one after the other, again and again, as in training. Works of one
// step run side by side, and the longest decides. With warm caches each work moves its bytes at the
// rate of its kernel on the working set of all steps together; with cold ones at its cold law.
// `disturbed`: share of the time with others beside it on its cores.
//
// Which errors make up the interval, and what holds beyond the sizes that were measured:
// docs/physics/cost.md, "Measured kernels". Throws Error for a kernel without a law.
PredictedTime predicted_time(const KernelSteps& steps, const KernelLaws& laws, CacheState cache,
                             double disturbed = 0);

}  // namespace windtunnel
