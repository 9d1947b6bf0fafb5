// Several jobs on one cluster at every combination of the varied values: `windtunnel compare` on a
// scenario with `jobs:`.
#pragma once

#include <vector>

#include "cli/program/answer_output.hpp"
#include "cli/program/command.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {

struct CompanyComparison {
  ScenarioText scenario;
  std::vector<Overrides> points;
  AnswerOutput output;
  bool timing = false;
};

// Prints a row for each point and job; of points that cannot be, the reason. One after the other,
// as each simulates several starts itself. Throws the first point's Error where none can be.
ExitCode compare_company(const CompanyComparison& wanted, const SimulateOptions& options);

}  // namespace windtunnel
