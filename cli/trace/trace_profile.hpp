// windtunnel trace import of what a profiler recorded: where the steps went, beside what a scenario
// predicts for them.
#pragma once

#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/sweep.hpp"

namespace windtunnel {

struct ProfileImport {
  std::vector<std::string> files;  // or one folder of them
  std::string scenario;            // empty: the trace alone
  Overrides set;
  std::vector<VariedKey> vary;  // other choices for the captured job; empty: none are asked for
  int replicas = 1;             // copies of the captured job, side by side
  std::string out;              // folder of the calibration; empty: none is written
  std::string page;             // file; empty: none is written
  bool json = false;
};

// By their names, of a folder by the names of its files: PyTorch's .json and .json.gz,
// Nsight Systems' .sqlite; a .json of a folder that begins as something else is none.
bool are_profiles(const std::vector<std::string>& files);

ExitCode import_profiles(const ProfileImport& options);

}  // namespace windtunnel
