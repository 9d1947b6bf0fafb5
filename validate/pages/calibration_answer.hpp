// What `windtunnel calibrate` found: what the fit moved and how surely, the rows that it was
// fitted on as predicted by it, and of kernels that were measured each sample beside its law and
// the compositions by which the laws are judged.
#pragma once

#include <string>
#include <vector>

#include "models/calibration/kernel_law.hpp"
#include "report/answer/charts.hpp"
#include "report/text/answer.hpp"
#include "traces/rows/samples.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

inline constexpr const char* kBeforeTheFit = "before the fit";  // a baseline of the rows

struct FitAnswer {
  Answer answer;                          // but for its sections
  SummarySection parameters;              // before and after
  std::vector<SummarySection> more = {};  // what else the fit says
  std::vector<RangeItem> moved = {};      // after over before
  ValidationReport rows = {};             // that were fitted on, as the fit predicts them
};
Answer fit_answer(FitAnswer fit);
// The value is after over before, with the interval after.
RangeItem moved_item(const std::string& name, const Parameter& before, const Parameter& after);

// `report`: validate_samples() of the same.
std::string kernels_page(const SampleFile& samples, const KernelLaws& laws,
                         const ValidationReport& report);

}  // namespace windtunnel
