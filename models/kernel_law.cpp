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

PredictedTime predicted_time(const KernelSteps& steps, const KernelLaws& laws, CacheState cache) {
  double seconds = 0;
  std::map<std::string, double> error_s;
  for (const std::vector<KernelWork>& step : steps) {
    double longest = 0;
    const KernelLaw* decides = nullptr;
    for (const KernelWork& work : step) {
      const KernelLaw& law = law_of(work, laws, cache);
      const KernelKind& kind = kernel_kind(work.kernel);
      const double time = law_time(law, kind.flops(work), kind.bytes(work));
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
