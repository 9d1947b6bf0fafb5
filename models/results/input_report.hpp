// What loading the samples of a step costs (Job::input).
#pragma once

#include <string>

namespace windtunnel {

struct InputReport {
  double load_s = 0;       // of the samples of a step, with nothing beside it
  double stall_s = 0;      // that a step is longer than with all samples there
  std::string bound = {};  // what the loader waits for: "workers", "storage", ...
  double read_Bps = 0;     // of the whole job, mean over a step
  double cores = 0;        // of a node, mean over a step
};

}  // namespace windtunnel
