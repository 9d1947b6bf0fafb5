// The training runs that predictions were compared with: scenarios/library/measured_runs.yaml,
// which `windtunnel validate runs --measured FILE` writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/results/familiarity.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

struct Framework;  // scenarios/language/library/facts/training_software.hpp

const std::vector<MeasuredRuns>& measured_runs();
// Throws Error with location: a key is missing, or the errors are negative, not ascending, or not
// as many as kept_errors() says.
std::vector<MeasuredRuns> read_measured_runs(const DocumentNode& document);

// The software at the end of a chain of bases (RunTraits::software). If `software` is null, this is
// Megatron-Core: a job that names no software has its defaults.
const std::string& software_root(const Framework* software);

// The error of a job's predicted step is that of measured runs if the job's calibration is the
// default of a kind of GPU, and otherwise the calibration's. The calibration's error also counts if
// it is larger than that of the measured runs, as for GPUs with few measured runs. `without`
// excludes runs of one publisher's families: a family is judged by the interval that a user would
// get, whose job belongs to no family. `hfu_causal` is that of the predicted step.
struct StepError {
  Parameter error;
  Familiarity familiarity = {};  // empty if only the calibration decides
};
StepError step_error(const Job& job, std::string_view software, double hfu_causal,
                     std::string_view without = {});

// The text is in the format of the library's file.
std::string measured_runs_text(const std::vector<MeasuredRuns>& runs);

}  // namespace windtunnel
