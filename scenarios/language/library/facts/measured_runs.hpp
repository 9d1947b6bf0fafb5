// The training runs that predictions were held against: scenarios/library/measured_runs.yaml, which
// `windtunnel validate runs --measured FILE` writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/results/familiarity.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

const std::vector<MeasuredRuns>& measured_runs();
// Throws Error with location: a key is missing, or errors are negative, do not ascend or are not as
// many as the rows keep (kept_errors()).
std::vector<MeasuredRuns> read_measured_runs(const DocumentNode& document);

// How far the predicted step of a job may be off: what its calibration says, or, where that one
// stands for a kind of GPU and measured runs were off further, what they say. `without`: a family
// whose publisher's runs tell nothing; so the interval is judged that a user gets, whose job is of
// none.
struct StepError {
  Parameter error;
  Familiarity familiarity = {};  // empty where the calibration decides alone
};
StepError step_error(const Job& job, std::string_view without = {});

// As the library has them.
std::string measured_runs_text(const std::vector<MeasuredRuns>& runs);

}  // namespace windtunnel
