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

// Of a product that was measured: how far its time lies from the line.
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

// Of a work that moves `bytes` and executes `flops`.
double law_time(const KernelLaw& law, double flops, double bytes);
// By its shape too.
double law_time(const KernelLaw& law, const KernelWork& work);

// Of a product of that shape, over the line: exp of the residuals nearby, weighted by a normal law
// of the distance in log m, n, k (Nadaraya 1964, Watson 1964; shrunk to 1 where none is near).
double shape_factor(const KernelLaw& law, double m, double n, double k);

// Steps work on buffers of their own, in turn, and again: what one left in a cache is gone when the
// working set of them all has passed (least recently used goes first). So each moves its bytes at
// the rate that its kernel has on a working set of that size. Beyond the largest that was measured
// of it, what has outgrown the caches, as the sizes of `scale` tell, takes as long as it does cold,
// or without a cold law as much longer as in `scale`.
//
// `disturbed`: share of the time with others beside it on its cores.
//
// Its interval: a law errs alike in all steps that are its own, laws err apart from each other, how
// much of the caches is this work's varies, steps in turn stray from what they are alone, and the
// whole differs from the next time by run_spread, however many steps it has. A slowdown that is
// unsure counts by how far `disturbed` lies from the share that a law was fitted at. Throws Error
// for a kernel without a law.
PredictedTime predicted_time(const KernelSteps& steps, const KernelLaws& laws, CacheState cache,
                             double disturbed = 0);

}  // namespace windtunnel
