// Measures for a calibration and stores results in a file at once. Works in the file are not
// measured again, so an interrupted run can continue.
#pragma once

#include <span>
#include <string>

#include "validate/harness/timing/measure.hpp"

namespace windtunnel {

struct Session {
  std::string samples_path;  // CSV: traces/rows/samples.hpp
  MeasureOptions options;
  std::function<void(const MeasureProgress&)> progress;
  std::function<bool()> stopped;
  std::function<void(double)> exceeds = [](double /*least_s*/) {};  // as in MeasureEvents
};

struct SessionResult {
  int kept = 0;  // from an earlier run
  MeasureProgress progress;
  bool complete = false;
};

// Appends each series when it is complete. Throws Error if the file has samples of another device,
// driver or number of ranks, or malformed rows: these would be mixed with the new ones.
SessionResult run_session(std::span<const TimedWork> works, Team& team, const Session& session);

}  // namespace windtunnel
