#include "report/captured/captured_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "models/base/error.hpp"
#include "report/captured/step_figures.hpp"

namespace windtunnel {
namespace {

// By which the constant grows; 1 where there is nothing to tell it by.
double factor(double grows_with_s, double falls_with_s) {
  return grows_with_s > 0 && falls_with_s > 0 ? grows_with_s / falls_with_s : 1;
}

}  // namespace

Calibration captured_calibration(const Calibration& from, const CaptureAnswer& answer) {
  CHECK(answer.predicted.has_value(), "a prediction");
  if (!from.kernel_laws.laws.empty()) {
    throw Error(
        "--out: the scenario's calibration has laws of single kernels, which stand before the "
        "constants that a trace can tell; use one without, as calibration: auto");
  }
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
  scale(&Calibration::gemm_efficiency,
        factor(predicted.products_s, kind_s(traced, WorkKind::product)), 1);
  const double attention_s = predicted.attention_forward_s + predicted.attention_backward_s;
  const double attention = factor(attention_s, kind_s(traced, WorkKind::attention));
  scale(&Calibration::attention_forward_efficiency, attention, 1);
  scale(&Calibration::attention_backward_efficiency, attention, 1);
  const double memory = factor(
      predicted.memory_s, kind_s(traced, WorkKind::norm) + kind_s(traced, WorkKind::element_wise));
  scale(&Calibration::memory_efficiency, memory, 1);
  const double reached =
      made.memory_efficiency.value / std::max(from.memory_efficiency.value, 1e-9);
  // The optimizer's pass takes the new efficiency too.
  scale(&Calibration::optimizer_bytes,
        factor(kind_s(traced, WorkKind::optimizer) * reached, answer.predicted->optimizer_s), 1e6);
  return made;
}

}  // namespace windtunnel
