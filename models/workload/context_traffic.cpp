#include "models/workload/context_traffic.hpp"

#include <algorithm>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr double kStatistic = 4;  // bytes: a row's maximum and sum in one fp32 number

struct Step {
  double there = 0;
  double back = 0;
};

// The bytes of one token, without statistics of the heads, which are the same in all precisions.
Step ring_step(ContextForm form, const ContextTensors& t, bool forward) {
  switch (form) {
    case ContextForm::burst:
      if (forward) return {t.k + t.v};
      return {2 * t.q + t.context + 2 * kStatistic * t.heads};
    case ContextForm::token_ring:
      if (forward) return {t.q, t.context + kStatistic * t.heads};
      return {t.q + t.context + 2 * kStatistic * t.heads, t.q};
    case ContextForm::rsa:
      return {(forward ? 1 : 3) * (t.k + t.v)};
    default:
      return {(forward ? 1 : 2) * (t.k + t.v)};
  }
}

}  // namespace

double key_copies(double kv_heads, int ulysses) {
  return std::max(1.0, ulysses / kv_heads);
}

ContextTraffic context_traffic(const Layout& layout, const ContextTensors& tensors, Pass pass) {
  CHECK(pass != Pass::backward_weight, "weights have no sequence");
  ContextTraffic traffic;
  if (layout.context == ContextForm::dsp) {
    traffic.all_to_all_bytes = tensors.tokens * tensors.between;
    traffic.all_to_alls = 1;
    return traffic;
  }
  ContextTensors t = tensors;
  const int ulysses = layout.ulysses_ranks();
  if (ulysses > 1) {
    t.k *= key_copies(t.kv_heads, ulysses);
    t.v *= key_copies(t.kv_heads, ulysses);
    traffic.all_to_all_bytes = t.tokens * (t.q + t.k + t.v + t.context);
    traffic.all_to_alls = 4;
  }
  traffic.steps = layout.ring_ranks() - 1;
  if (traffic.steps == 0) return traffic;
  if (layout.context == ContextForm::lasp) {
    traffic.step_bytes = t.state;
    return traffic;
  }
  if (t.projected > 0) {  // a ring sums parts of these, or of their gradients
    traffic.step_bytes = 2 * t.projected / layout.ring_ranks();
    return traffic;
  }
  t.k *= t.earlier;
  t.v *= t.earlier;
  const Step step = ring_step(layout.context, t, pass == Pass::forward);
  traffic.step_bytes = t.tokens * std::max(step.there, step.back);
  traffic.back_bytes = t.tokens * std::min(step.there, step.back);
  return traffic;
}

double wire_bytes(const ContextTraffic& traffic, const Layout& layout) {
  const double ranks = layout.exchange_ranks();
  return traffic.all_to_all_bytes * (ranks - 1) / ranks +
         traffic.steps * (traffic.step_bytes + traffic.back_bytes);
}

}  // namespace windtunnel
