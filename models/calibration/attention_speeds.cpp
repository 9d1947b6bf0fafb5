#include "models/calibration/attention_speeds.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

double between(double at, double x0, double y0, double x1, double y1) {
  const double share = std::log(at / x0) / std::log(x1 / x0);
  return std::exp(std::log(y0) + share * std::log(y1 / y0));
}

// Returns the speed at `at` divided by that at `known`; the speed grows as x / (x + half).
double ramp(double at, double known, double half) {
  return at / (at + half) * (known + half) / known;
}

double flop_s_of(const AttentionCurve& curve, double tokens, const AttentionHalves& halves) {
  const std::vector<double>& at = curve.tokens;
  if (tokens >= at.back()) return curve.flop_s.back();
  if (tokens <= at.front()) {
    return curve.flop_s.front() * ramp(tokens, at.front(), halves.sequence);
  }
  const auto next = std::ranges::upper_bound(at, tokens) - at.begin();
  return between(tokens, at[next - 1], curve.flop_s[next - 1], at[next], curve.flop_s[next]);
}

// The share at this width and length, from the curves of one direction and mask; empty if there is
// no such curve.
std::optional<AttentionShare> share_of(const AttentionSpeeds& speeds, bool backward, bool causal,
                                       double width, double tokens, const AttentionHalves& halves) {
  const AttentionCurve* narrower = nullptr;
  const AttentionCurve* wider = nullptr;
  for (const AttentionCurve& curve : speeds.curves) {
    if (curve.backward != backward || curve.causal != causal) continue;
    if (curve.width <= width && (narrower == nullptr || curve.width > narrower->width)) {
      narrower = &curve;
    }
    if (curve.width >= width && (wider == nullptr || curve.width < wider->width)) wider = &curve;
  }
  if (narrower == nullptr && wider == nullptr) return std::nullopt;
  const double ramped = narrower == nullptr ? ramp(width, wider->width, halves.width) : 1;
  if (narrower == nullptr) narrower = wider;
  if (wider == nullptr) wider = narrower;
  const double low = flop_s_of(*narrower, tokens, halves);
  const double high = flop_s_of(*wider, tokens, halves);
  const double flop_s = wider->width > narrower->width
                            ? between(width, narrower->width, low, wider->width, high)
                            : low;
  return AttentionShare{ramped * flop_s / speeds.measured_peak_flop_s,
                        weakest(narrower->origin, wider->origin)};
}

}  // namespace

AttentionShare attention_share(const AttentionSpeeds& speeds, bool backward, bool causal,
                               double width, double tokens, const AttentionHalves& halves) {
  const auto share = [&](bool back, bool masked) {
    return share_of(speeds, back, masked, width, tokens, halves);
  };
  if (const auto own = share(backward, causal)) return *own;
  const auto other = share(backward, !causal);
  CHECK(other.has_value(), "'{}' has no {} curve", speeds.kernel,
        backward ? "backward" : "forward");
  const auto masked = share(!backward, causal);
  const auto unmasked = share(!backward, !causal);
  if (!masked || !unmasked) return {other->of_peak, Origin::assumed};
  return {other->of_peak * masked->of_peak / unmasked->of_peak, Origin::assumed};
}

}  // namespace windtunnel
