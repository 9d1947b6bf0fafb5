// What every kind of validation is asked: a document, and a bound on its errors.
#pragma once

#include <limits>
#include <string>

#include "cli/command.hpp"
#include "validate/accuracy/validation_report.hpp"

namespace windtunnel {

struct Judgement {
  bool json = false;
  double fail_above = std::numeric_limits<double>::infinity();
};

// --json and --fail-above.
void add_judgement(CLI::App& app, Judgement& options, const char* what_is_judged);

// A bound that no row was held against is not met. `metric` empty: all families are judged.
ExitCode judge(const ValidationReport& report, const Judgement& options, const std::string& metric);

}  // namespace windtunnel
