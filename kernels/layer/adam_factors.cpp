#include "kernels/layer/adam_factors.hpp"

#include "models/base/error.hpp"

namespace windtunnel {

AdamFactors adam_factors(const AdamSettings& settings) {
  const auto is_share = [](double beta) { return beta >= 0 && beta < 1; };
  CHECK(settings.step >= 1 && is_share(settings.beta1) && is_share(settings.beta2),
        "step {} of Adam with {} and {}", settings.step, settings.beta1, settings.beta2);
  AdamFactors factors = {};
  factors.beta1 = static_cast<float>(settings.beta1);
  factors.beta2 = static_cast<float>(settings.beta2);
  factors.rest1 = static_cast<float>(1 - settings.beta1);
  factors.rest2 = static_cast<float>(1 - settings.beta2);
  factors.step_size =
      static_cast<float>(settings.learning_rate / (1 - std::pow(settings.beta1, settings.step)));
  factors.root = static_cast<float>(1 / std::sqrt(1 - std::pow(settings.beta2, settings.step)));
  factors.epsilon = static_cast<float>(settings.epsilon);
  return factors;
}

}  // namespace windtunnel
