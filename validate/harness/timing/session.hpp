// A calibration's measuring, kept in a file as it goes: what is in the file is not measured again,
// so that an interrupted run goes on where it was.
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
  std::function<void(double)> exceeds = [](double /*least_s*/) {};  // MeasureEvents has it
};

struct SessionResult {
  int kept = 0;  // of an earlier run
  MeasureProgress progress;
  bool complete = false;
};

// Appends each series as it is complete. Throws Error when the file holds samples of another
// device, driver or number of ranks, or rows that are none: they would be mixed up.
SessionResult run_session(std::span<const TimedWork> works, Team& team, const Session& session);

}  // namespace windtunnel
