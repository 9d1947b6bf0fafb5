// The part of `windtunnel calibrate` that fits a network on timings of collectives.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/program/answer_output.hpp"
#include "models/base/error.hpp"
#include "models/base/origin.hpp"

namespace windtunnel {

struct CollectiveCalibration {
  std::vector<std::string> from;  // rows (CSV) or logs of nccl-tests (text, JSON)
  std::string where;              // of rows
  // Of rows: which to fit. Of logs: what to call them, one for all or one for each, as are:
  std::vector<std::string> machines;
  std::vector<std::string> networks;
  std::vector<std::string> collectives;
  std::string base;
  std::string out;
  Origin origin = Origin::measured;  // of the rows
  bool force = false;                // write over files
  AnswerOutput output;
  int threads = 0;
};

// Whether the file holds such timings; anything else is a table of training runs.
bool holds_collectives(const std::string& path);

// A parameter's value in its unit ("s", "B" or none), for people; 1e18 bytes and more are "never".
std::string value_text(double value, std::string_view unit);

// Fits, writes `out`, of several machines a file for each beside it, and prints what was fitted.
ExitCode calibrate_on_collectives(const CollectiveCalibration& options);

}  // namespace windtunnel
