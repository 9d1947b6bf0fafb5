// The part of `windtunnel calibrate` that fits a network on timings of collectives.
#pragma once

#include <string>
#include <string_view>

#include "models/base/error.hpp"

namespace windtunnel {

struct CollectiveCalibration {
  std::string from;     // rows (CSV) or a log of nccl-tests (text, JSON)
  std::string where;    // of rows
  std::string machine;  // of rows: which to fit; of a log: what to call it
  std::string network;  // of a log
  std::string base;
  std::string out;
  bool json = false;
  int threads = 0;
};

// Whether the file holds such timings; anything else is a table of training runs.
bool holds_collectives(const std::string& path);

// A parameter's value in its unit ("s", "B" or none), for people; 1e18 bytes and more are "never".
std::string value_text(double value, std::string_view unit);

// Fits, writes `out` and prints what was fitted.
ExitCode calibrate_on_collectives(const CollectiveCalibration& options);

}  // namespace windtunnel
