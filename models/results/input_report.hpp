// What loading the samples of a step costs (Job::input).
#pragma once

#include <string>

namespace windtunnel {

struct InputReport {
  double load_s = 0;       // time to load the samples of a step when nothing else runs
  double stall_s = 0;      // how much longer a step is than with all samples ready
  std::string bound = {};  // what the loader waits for: "workers", "storage", ...
  double read_Bps = 0;     // of the whole job, mean over a step
  double cores = 0;        // of a node, mean over a step
};

}  // namespace windtunnel
