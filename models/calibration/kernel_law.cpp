#include "models/calibration/kernel_law.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kCold = " cold";  // at the end of a key

// The last-level cache is shared with other cores, also those of other tenants: the part of it that
// a work gets varies by this factor (one standard deviation; assumed).
constexpr double kCacheShare = 1.25;

// Difference between consecutive steps and their laws that nothing explains: standard deviation of
// the log over 136 compositions (four calibrations of a virtual machine with two cores, measured).
constexpr double kTurnsDiffer = 0.06;

const KernelLaw& law_of(const KernelWork& work, const KernelLaws& laws, CacheState cache) {
  const std::string key = law_key(work);
  const KernelLaw* law = find_law(laws, key, cache);
  if (law == nullptr) throw Error(fmt::format("no law of '{}' was fitted", key));
  return *law;
}

// The law's error without the differences between timings, which the scatter between its sizes
// contains too.
double own_error(const KernelLaw& law, double run_spread) {
  return std::sqrt(std::max(0.0, law.spread * law.spread - run_spread * run_spread));
}

double byte_s(const TimeCurve& curve, double bytes) {
  return curve.at(bytes) / bytes;
}

// How caches lose data that outgrows them, measured with works that do nothing else.
struct CacheEdge {
  const KernelLaw* stream = nullptr;

  explicit CacheEdge(const KernelLaws& laws) : stream(find_law(laws, "scale", CacheState::warm)) {
    if (stream != nullptr && stream->curve.sizes.empty()) stream = nullptr;
  }
  double byte_s(double bytes) const {
    return windtunnel::byte_s(stream->curve, std::min(bytes, stream->most));
  }
  static constexpr double kClearly = 3;  // standard deviations
  // How far data has left the caches: from 0, if it is where it was at `known` bytes, to 1, if all
  // of it is in memory.
  double outgrown(double working_set, double known) const {
    if (stream == nullptr || working_set <= known) return 0;
    const double all_s = byte_s(stream->most) - byte_s(known);
    // If the rate hardly falls beyond `known`, all data had left the caches there already.
    if (all_s <= kClearly * stream->spread * byte_s(known)) return 0;
    return std::clamp((byte_s(working_set) - byte_s(known)) / all_s, 0.0, 1.0);
  }
};

// The time of a work of `bytes` that has a working set of `working_set` together with other works.
double working_set_time(const KernelLaw& law, const KernelLaw& cold, const CacheEdge& edge,
                        double bytes, double working_set) {
  const double known = std::min(working_set, law.most);
  const auto warm_s = [&](double size) {
    const double alone_s = law.curve.at(size);
    return known > size ? std::max(alone_s, byte_s(law.curve, known) * size) : alone_s;
  };
  const double seconds = warm_s(bytes);
  const double outgrown = edge.outgrown(working_set, known);
  if (outgrown <= 0) return seconds;
  double longer_s = (edge.byte_s(edge.stream->most) - edge.byte_s(known)) * bytes;
  if (&cold != &law) {
    // Below its smallest size a cold law is constant, so the extra time of memory is scaled down
    // from that size.
    const double told = std::max(bytes, cold.least);
    longer_s = (cold.curve.at(told) - warm_s(told)) * bytes / told;
  }
  return seconds + outgrown * std::max(0.0, longer_s);
}

}  // namespace

std::string law_key(const KernelWork& work, CacheState cache) {
  const KernelKind& kind = kernel_kind(work.kernel);
  const auto text = to_text({{work}});
  const bool has_forms = kind.family == KernelFamily::code || kind.family == KernelFamily::copy;
  std::string key = work.kernel;
  for (const std::string_view size : kind.sizes) {
    const bool scales =
        size == "elements" || size == "bytes" || (!has_forms && size != "type" && size != "ranks");
    // The number of parts in a requantised sum is not in the key, because the time scales with it
    // as with bytes.
    if (scales) continue;
    const size_t at = text.find(fmt::format(" {}=", size));
    key += text.substr(at, text.find(' ', at + 1) - at);
  }
  if (cache == CacheState::cold) key += kCold;
  return key;
}

const KernelLaw* find_law(const KernelLaws& laws, std::string_view key, CacheState cache) {
  const KernelLaw* other = nullptr;
  for (const KernelLaw& law : laws.laws) {
    const bool cold = law.key.ends_with(kCold);
    if (std::string_view(law.key).substr(0, law.key.size() - (cold ? kCold.size() : 0)) != key) {
      continue;
    }
    if (cold == (cache == CacheState::cold)) return &law;
    other = &law;
  }
  return other;
}

double bytes_moved(const KernelSteps& steps) {
  double bytes = 0;
  for (const std::vector<KernelWork>& step : steps) {
    for (const KernelWork& work : step) bytes += kernel_kind(work.kernel).bytes(work);
  }
  return bytes;
}

double law_time(const KernelLaw& law, double flops, double bytes) {
  if (!law.curve.sizes.empty()) return law.curve.at(bytes);
  return law.fixed_s + law.flop_s * flops + law.byte_s * bytes;
}

double law_time(const KernelLaw& law, const KernelWork& work) {
  const KernelKind& kind = kernel_kind(work.kernel);
  return law_time(law, kind.flops(work), kind.bytes(work)) *
         shape_factor(law, work.m, work.n, work.k);
}

double shape_factor(const KernelLaw& law, double m, double n, double k) {
  // These values give the least error of left-out products, over 5 calibrations of a CPU: 2.2 % in
  // the median, the line alone 3.9 % (0.35 to 0.7 and 0.05 to 0.4 change it by at most a third).
  constexpr double kNear = 0.5;    // of a log: sizes 1.6 apart are alike
  constexpr double kShrink = 0.2;  // weight of the line itself
  if (m <= 0 || n <= 0 || k <= 0) return 1;
  double sum = 0;
  double weights = kShrink;
  for (const MeasuredShape& shape : law.shapes) {
    const double apart =
        std::hypot(std::log(m / shape.m), std::log(n / shape.n), std::log(k / shape.k)) / kNear;
    const double weight = shape.weight * std::exp(-apart * apart / 2);
    sum += weight * shape.residual;
    weights += weight;
  }
  return std::exp(sum / weights);
}

PredictedTime predicted_time(const KernelSteps& steps, const KernelLaws& laws, CacheState cache,
                             double disturbed) {
  const CacheEdge edge(laws);
  const double working_set = bytes_moved(steps);
  const auto time_at = [&](const KernelWork& work, const KernelLaw& law, double set) {
    if (cache == CacheState::cold || law.curve.sizes.empty()) return law_time(law, work);
    const KernelLaw& cold = law_of(work, laws, CacheState::cold);
    return working_set_time(law, cold, edge, kernel_kind(work.kernel).bytes(work), set);
  };
  double seconds = 0;
  double edge_s = 0;  // uncertainty of this work's share of the caches
  std::map<std::string, double> error_s;
  for (const std::vector<KernelWork>& step : steps) {
    double longest = 0;
    const KernelLaw* decides = nullptr;
    double edge_of_longest_s = 0;
    for (const KernelWork& work : step) {
      const KernelLaw& law = law_of(work, laws, cache);
      const double slower = std::exp(law.slowdown.log * disturbed);
      const double time = slower * time_at(work, law, working_set);
      if (decides != nullptr && time <= longest) continue;
      longest = time;
      decides = &law;
      edge_of_longest_s = slower / 2 *
                          (time_at(work, law, working_set * kCacheShare) -
                           time_at(work, law, working_set / kCacheShare));
    }
    seconds += longest;
    if (steps.size() > 1) edge_s += edge_of_longest_s;  // a single step is as it was measured
    const double unsure = (disturbed - decides->disturbed) * decides->slowdown.spread;
    error_s[decides->key] += longest * std::hypot(own_error(*decides, laws.run_spread), unsure,
                                                  kSizesDiffer * disturbed);
  }
  double variance = edge_s * edge_s;
  for (const auto& [key, error] : error_s) variance += error * error;
  const double turns = steps.size() > 1 ? kTurnsDiffer : 0;
  const double spread = std::hypot(std::sqrt(variance) / seconds, laws.run_spread, turns);
  return {seconds, seconds * std::exp(-kNormal95 * spread), seconds * std::exp(kNormal95 * spread)};
}

}  // namespace windtunnel
