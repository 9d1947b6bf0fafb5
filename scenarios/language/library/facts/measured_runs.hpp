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
// Throws Error with location: a key is missing, or the errors are negative, not ascending, or of
// the wrong number (kept_errors()).
std::vector<MeasuredRuns> read_measured_runs(const DocumentNode& document);

// What a software is based on in the end (RunTraits::software). Null: a job that names no software
// has the defaults of Software, which are Megatron-Core's.
const std::string& software_root(const Framework* software);

// The error of the predicted step of a job: that of measured runs if the calibration is the default
// of a kind of GPU, else that of its calibration. If the calibration assumes a larger error than
// the measured runs have, as for GPUs with few measured runs, that error counts. `without` excludes
// runs of one publisher's families: a family is judged by the interval that a user would get, whose
// job belongs to no family.
struct StepError {
  Parameter error;
  Familiarity familiarity = {};  // empty where the calibration decides alone
};
StepError step_error(const Job& job, std::string_view software, std::string_view without = {});

// The text is in the format of the library's file.
std::string measured_runs_text(const std::vector<MeasuredRuns>& runs);

}  // namespace windtunnel
