// The answer of `windtunnel calibrate`: the parameters that the fit changed with their intervals,
// and the fitted rows with predictions; for measured kernels, each sample with its law, and the
// compositions that judge the laws.
#pragma once

#include <string>
#include <vector>

#include "models/calibration/kernel_law.hpp"
#include "report/answer/charts.hpp"
#include "report/text/answer.hpp"
#include "traces/rows/samples.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

inline constexpr const char* kBeforeTheFit = "before the fit";  // baseline of the rows

struct FitAnswer {
  Answer answer;                          // without its sections
  SummarySection parameters;              // before and after
  std::vector<SummarySection> more = {};  // other results of the fit
  std::vector<RangeItem> moved = {};      // value after / before
  ValidationReport rows = {};             // fitted rows, predicted with the fit
};
Answer fit_answer(FitAnswer fit);
// The value is after / before, with the interval after the fit.
RangeItem moved_item(const std::string& name, const Parameter& before, const Parameter& after);

// `report` is validate_samples() of these samples.
std::string kernels_page(const SampleFile& samples, const KernelLaws& laws,
                         const ValidationReport& report);

}  // namespace windtunnel
