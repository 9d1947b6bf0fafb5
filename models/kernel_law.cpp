#include "models/kernel_law.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kCold = " cold";  // at the end of a key

constexpr double kNormal90 = 1.6448536269514722;  // of a normal law, 5 % beyond on either side

const KernelLaw& law_of(const KernelWork& work, const KernelLaws& laws, CacheState cache) {
  const std::string key = law_key(work);
  const KernelLaw* law = find_law(laws, key, cache);
  if (law == nullptr) throw Error(fmt::format("no law of '{}' was fitted", key));
  return *law;
}

// Without what timings differ by from each other, which is in the scatter of a law's sizes too.
double own_error(const KernelLaw& law, double run_spread) {
  return std::sqrt(std::max(0.0, law.spread * law.spread - run_spread * run_spread));
}

double byte_s(const TimeCurve& curve, double bytes) {
  return curve.at(bytes) / bytes;
}

// Of `bytes` that are part of a larger working set.
double working_set_time(const KernelLaw& law, double bytes, double working_set,
                        const KernelLaw* copy) {
  const double known = std::min(working_set, law.most);
  double seconds = law.curve.at(bytes);
  if (known > bytes) seconds = std::max(seconds, byte_s(law.curve, known) * bytes);
  if (copy == nullptr || copy->curve.sizes.empty()) return seconds;
  const double beyond = std::min(working_set, copy->most);
  const double longer_s =
      byte_s(copy->curve, beyond) - byte_s(copy->curve, std::min(known, beyond));
  return seconds + std::max(0.0, longer_s) * bytes;
}

double bytes_moved(const KernelSteps& steps) {
  double bytes = 0;
  for (const std::vector<KernelWork>& step : steps) {
    for (const KernelWork& work : step) bytes += kernel_kind(work.kernel).bytes(work);
  }
  return bytes;
}

}  // namespace

std::string law_key(const KernelWork& work, CacheState cache) {
  const KernelKind& kind = kernel_kind(work.kernel);
  const auto text = to_text({{work}});
  std::string key = work.kernel;
  for (const std::string_view size : kind.sizes) {
    const bool scales = size == "elements" || size == "bytes" ||
                        (kind.family != KernelFamily::code && size != "type" && size != "ranks");
    // What a requantised sum has of parts is no size: it moves with the bytes.
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

double law_time(const KernelLaw& law, double flops, double bytes) {
  if (!law.curve.sizes.empty()) return law.curve.at(bytes);
  return law.fixed_s + law.flop_s * flops + law.byte_s * bytes;
}

double shape_factor(const KernelLaw& law, double m, double n, double k) {
  constexpr double kNear = 0.35;   // of a log: sizes 1.4 apart are alike
  constexpr double kShrink = 0.2;  // weight of the line itself
  if (m <= 0 || n <= 0 || k <= 0) return 1;
  double sum = 0;
  double weights = kShrink;
  for (const MeasuredShape& shape : law.shapes) {
    const double apart =
        std::hypot(std::log(m / shape.m), std::log(n / shape.n), std::log(k / shape.k)) / kNear;
    const double weight = std::exp(-apart * apart / 2);
    sum += weight * shape.residual;
    weights += weight;
  }
  return std::exp(sum / weights);
}

PredictedTime predicted_time(const KernelSteps& steps, const KernelLaws& laws, CacheState cache) {
  double seconds = 0;
  std::map<std::string, double> error_s;
  const double working_set = bytes_moved(steps);
  const KernelLaw* copy = find_law(laws, "copy", CacheState::warm);
  for (const std::vector<KernelWork>& step : steps) {
    double longest = 0;
    const KernelLaw* decides = nullptr;
    for (const KernelWork& work : step) {
      const KernelLaw& law = law_of(work, laws, cache);
      const KernelKind& kind = kernel_kind(work.kernel);
      const bool in_caches = cache == CacheState::warm && !law.curve.sizes.empty();
      const double time = in_caches ? working_set_time(law, kind.bytes(work), working_set, copy)
                                    : law_time(law, kind.flops(work), kind.bytes(work)) *
                                          shape_factor(law, work.m, work.n, work.k);
      if (decides == nullptr || time > longest) {
        longest = time;
        decides = &law;
      }
    }
    seconds += longest;
    error_s[decides->key] += longest * own_error(*decides, laws.run_spread);
  }
  double variance = 0;
  for (const auto& [key, error] : error_s) variance += error * error;
  const double spread = std::hypot(std::sqrt(variance) / seconds, laws.run_spread);
  return {seconds, seconds * std::exp(-kNormal90 * spread), seconds * std::exp(kNormal90 * spread)};
}

}  // namespace windtunnel
