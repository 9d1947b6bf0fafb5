#include "validate/accuracy/collectives/network_pace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/base/quantile.hpp"

namespace windtunnel {

bool NetworkPace::one_sided() const {
  constexpr double kFactor = 1.25;
  constexpr double kShare = 0.75;
  return points > 0 && std::max(ratio, 1 / ratio) > kFactor && same_side >= kShare;
}

NetworkPace pace_of(const std::vector<double>& ratios) {
  NetworkPace pace;
  if (ratios.empty()) return pace;
  pace.points = static_cast<int>(ratios.size());
  pace.ratio = quantile(ratios, 0.5);
  const auto same = std::ranges::count_if(
      ratios, [&](double ratio) { return pace.ratio < 1 ? ratio < 1 : ratio > 1; });
  pace.same_side = static_cast<double>(same) / pace.points;
  return pace;
}

std::optional<std::string> pace_text(const NetworkPace& pace, const std::string& than) {
  if (!pace.one_sided()) return std::nullopt;
  return fmt::format("gives {:.0f} % of {} (median of {} points, {:.0f} of them {})",
                     100 * pace.ratio, than, pace.points, pace.same_side * pace.points,
                     pace.ratio < 1 ? "slower" : "faster");
}

}  // namespace windtunnel
