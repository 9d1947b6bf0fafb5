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
  std::string where;              // selects rows
  // For rows: the machines to fit. For logs: machine, network and collective, one for all or one
  // each.
  std::vector<std::string> machines;
  std::vector<std::string> networks;
  std::vector<std::string> collectives;
  std::string base;
  std::string out;
  Origin origin = Origin::measured;  // of the rows
  bool force = false;                // overwrite files
  AnswerOutput output;
  int threads = 0;
};

// Whether the file has such timings; other files are tables of training runs.
bool holds_collectives(const std::string& path);

// A parameter's value with its unit ("s", "B" or none); 1e18 bytes and more are "never".
std::string value_text(double value, std::string_view unit);

// Fits, writes `out` (with several machines, a file for each in its folder), and prints the result.
ExitCode calibrate_on_collectives(const CollectiveCalibration& options);

}  // namespace windtunnel
