// The training runs that predictions were held against: scenarios/library/measured_runs.yaml, which
// `windtunnel validate runs --measured FILE` writes.
#pragma once

#include <string>
#include <vector>

#include "models/results/familiarity.hpp"

namespace windtunnel {

const std::vector<MeasuredRuns>& measured_runs();

// The runs in the form of the library file.
std::string measured_runs_text(const std::vector<MeasuredRuns>& runs);

}  // namespace windtunnel
