#include "report/captured/captured_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "models/base/error.hpp"
#include "report/captured/captured_report.hpp"

namespace windtunnel {
namespace {

// The factor for a constant; 1 if a time is missing.
double factor(double grows_with_s, double falls_with_s) {
  return grows_with_s > 0 && falls_with_s > 0 ? grows_with_s / falls_with_s : 1;
}

// Scales the laws of the kernel `key` for warm and cold caches. Returns whether there is one.
bool scale_law(Calibration& calibration, const std::string& key, double times) {
  bool any = false;
  for (KernelLaw& law : calibration.kernel_laws.laws) {
    if (law.key != key && law.key != key + " cold") continue;
    any = true;
    for (double& seconds : law.curve.seconds) seconds *= times;
    law.fixed_s *= times;
    law.flop_s *= times;
    law.byte_s *= times;
  }
  return any;
}

}  // namespace

Calibration captured_calibration(const Job& job, const CaptureAnswer& answer) {
  CHECK(answer.predicted.has_value(), "a prediction");
  const Calibration& from = job.calibration;
  const CapturedFile& first = answer.files.front();
  const StepFigures traced = figures_of(first.captured);
  const KernelSeconds& predicted = answer.predicted->kernels;
  const std::string source =
      fmt::format("{}, {} steps, on {}", std::filesystem::path(first.file).filename().string(),
                  traced.steps, first.gpu.empty() ? "an unnamed GPU" : first.gpu);
  Calibration made = from;
  const auto scale = [&](Parameter Calibration::*member, double by, double most) {
    const double value = std::min((from.*member).value * by, most);
    if (by != 1) made.*member = {value, value, value, Origin::measured, source};
  };
  const double products = factor(predicted.products_s, kind_s(traced, WorkKind::product));
  const KernelWork product{.kernel = "gemm", .precision = job.precision};
  if (!scale_law(made, law_key(product), 1 / products)) {
    scale(&Calibration::gemm_efficiency, products, 1);
  }
  const double attention_s = predicted.attention_forward_s + predicted.attention_backward_s;
  const double attention = factor(attention_s, kind_s(traced, WorkKind::attention));
  scale(&Calibration::attention_forward_efficiency, attention, 1);
  scale(&Calibration::attention_backward_efficiency, attention, 1);
  const double memory = factor(
      predicted.memory_s, kind_s(traced, WorkKind::norm) + kind_s(traced, WorkKind::element_wise));
  const bool by_law = scale_law(made, "add", 1 / memory) || scale_law(made, "copy", 1 / memory);
  if (!by_law) scale(&Calibration::memory_efficiency, memory, 1);
  const double reached =
      by_law ? memory : made.memory_efficiency.value / std::max(from.memory_efficiency.value, 1e-9);
  const double update = factor(kind_s(traced, WorkKind::optimizer), answer.predicted->optimizer_s);
  // Momentum has no kernel law of its own.
  const bool momentum = job.software.optimizer == Optimizer::momentum;
  const char* kernel = job.software.optimizer == Optimizer::sgd ? "sgd" : "adam";
  if (momentum || !scale_law(made, kernel, update)) {
    // The optimizer's pass gets the new efficiency as well, so its bytes grow to match the time.
    // Moments have a part of them.
    scale(&Calibration::optimizer_bytes, update * reached, 1e6);
    if (momentum) scale(&Calibration::moment_bytes, update * reached, 1e6);
  }
  return made;
}

}  // namespace windtunnel
