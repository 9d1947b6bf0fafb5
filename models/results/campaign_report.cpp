#include "models/results/campaign_report.hpp"

#include <algorithm>
#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"

namespace windtunnel {

Estimate estimate(std::vector<double> samples, double most, double least) {
  if (samples.empty()) throw Error("an estimate needs at least one replica");
  for (const double sample : samples) {
    if (std::isinf(sample)) return {sample, sample, sample, sample, sample};
  }
  const auto count = static_cast<double>(samples.size());
  // Takes two passes relative to the first sample, so that equal samples give exactly themselves.
  const double origin = samples.front();
  double offset = 0;
  for (const double sample : samples) offset += sample - origin;
  const double mean = origin + offset / count;
  double squares = 0;
  for (const double sample : samples) squares += (sample - mean) * (sample - mean);

  Estimate result;
  result.mean = mean;
  double half_width = 0;
  if (samples.size() > 1) {
    const boost::math::students_t distribution(count - 1);
    half_width =
        boost::math::quantile(distribution, 0.975) * std::sqrt(squares / (count - 1) / count);
  }
  result.low = std::max(mean - half_width, least);
  result.high = std::min(mean + half_width, most);
  std::sort(samples.begin(), samples.end());
  result.p05 = quantile_of_sorted(samples, 0.05);
  result.p95 = quantile_of_sorted(samples, 0.95);
  return result;
}

namespace {

struct SizeClass {
  double least;
  const char* name;
};
constexpr std::array<SizeClass, kSizeClasses> kSizes = {{{1, "whole"},
                                                         {0.95, "95 % and more"},
                                                         {0.9, "90 to 95 %"},
                                                         {0.75, "75 to 90 %"},
                                                         {0.5, "50 to 75 %"},
                                                         {0, "below 50 %"}}};

}  // namespace

int size_class(double progress) {
  int at = 0;
  while (progress < kSizes[at].least) ++at;
  return at;
}

const char* size_class_name(int size_class) {
  return kSizes[size_class].name;
}

const char* to_string(Loss loss) {
  switch (loss) {
    case Loss::stall:
      return "stall";
    case Loss::redo:
      return "redo";
    case Loss::detect:
      return "detect";
    case Loss::restart:
      return "restart";
    case Loss::degraded:
      return "degraded";
    case Loss::wait:
      return "wait";
    case Loss::sync:
      return "sync";
    case Loss::evaluate:
      return "evaluate";
    case Loss::log:
      return "log";
  }
  return "unknown";
}

}  // namespace windtunnel
