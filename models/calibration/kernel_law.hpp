// Times of measured kernels by fitted laws (fitted on samples by kernel_law_fit.hpp), and of
// compositions of kernels: steps run one after the other; works of a step run concurrently, and the
// longest decides.
//
// Matrix products: t = a + b flops + c bytes, all >= 0, times a correction from measured shapes
// nearby, because libraries tile products differently and some sizes collide in caches. All other
// kernels: a curve over the bytes moved (time_curve.hpp), one for each set of the other sizes (a
// code's k and m, a type).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/calibration/kernel_work.hpp"
#include "models/calibration/slowdown.hpp"
#include "models/calibration/time_curve.hpp"

namespace windtunnel {

// How far the measured time of a product is from the law.
struct MeasuredShape {
  double m = 0, n = 0, k = 0;
  double residual = 0;  // log(measured / line)
  double weight = 1;    // share of the residual's variance that is not measurement noise
};

struct KernelLaw {
  std::string key;       // law_key(): "gemm type=fp32", "rs-encode k=8 m=2", "copy cold"
  TimeCurve curve = {};  // empty for products, which follow the law below
  double fixed_s = 0;
  double flop_s = 0;
  double byte_s = 0;
  std::vector<MeasuredShape> shapes = {};  // of products
  double spread = 0;  // standard deviation of log(measured / law), each sample left out in turn
  double least = 0, most = 0;  // bytes of the smallest and the largest work in the fit
  Slowdown slowdown = {};      // when other works run on its cores; the law holds for works alone
  double disturbed = 0;        // mean share of time in which others ran beside the fitted works
};

struct KernelLaws {
  std::vector<KernelLaw> laws;
  // Standard deviation of log(measured / measured before): how much repeated runs differ.
  double run_spread = 0;
};

struct PredictedTime {
  double seconds = 0;
  double low_s = 0, high_s = 0;  // 90 %
};

// Names the kernel and the sizes that select its law.
std::string law_key(const KernelWork& work, CacheState cache = CacheState::warm);

// `key`: for warm caches. If only one cache state was measured, returns its law; nullptr if none
// was. Default: cold, since a training step uses all other buffers before it returns to one.
const KernelLaw* find_law(const KernelLaws& laws, std::string_view key,
                          CacheState cache = CacheState::cold);

// Bytes read and written by all works.
double bytes_moved(const KernelSteps& steps);

// The time of a work that moves `bytes` and executes `flops`.
double law_time(const KernelLaw& law, double flops, double bytes);
// The time of a work, with the correction for its shape.
double law_time(const KernelLaw& law, const KernelWork& work);

// Measured time of products near this shape divided by the law: exp of the nearby residuals,
// weighted by a normal law of the distance in log m, n, k (Nadaraya 1964, Watson 1964; shrunk to 1
// where no shape is near).
double shape_factor(const KernelLaw& law, double m, double n, double k);

// Time of steps that run one after the other repeatedly, as in training. Works of one step run
// concurrently, and the longest decides. With warm caches each work moves its bytes at its kernel's
// rate for the working set of all steps together; with cold caches its cold law gives the time.
// `disturbed`: share of the time in which other work runs on its cores.
//
// What the interval includes, and how laws extrapolate: docs/physics/cost.md, "Measured kernels".
// Throws Error for a kernel without a law.
PredictedTime predicted_time(const KernelSteps& steps, const KernelLaws& laws, CacheState cache,
                             double disturbed = 0);

}  // namespace windtunnel
