// What was done in idle time of a step, and what not (Job::filling). Seconds and units of one step.
#pragma once

#include <string>
#include <vector>

namespace windtunnel {

// The filling done by one kind of work, on all GPUs together.
struct FilledWork {
  std::string name;
  double unit_s = 0;     // on one GPU
  double piece_s = 0;    // the part of a unit that cannot be interrupted
  double done = 0;       // units, hidden ones and exposed ones
  double exposed = 0;    // units for which no idle time was left
  double exposed_s = 0;  // their time on the GPU that has most of them
  bool needed = false;
  double flops = 0;           // of a unit; 0: not known
  std::string left_out = {};  // why there is not more of it in idle time
};

// Idle time of a pipeline rank, as a mean over its GPUs: time in which the stream of kernels idles.
struct FilledRank {
  double idle_s = 0;        // without filling
  double filled_s = 0;      // idle time that filling uses
  double short_s = 0;       // idle time left because another piece would not fit, or kept as margin
  double memory_s = 0;      // left: no memory beside training
  double memory_bytes = 0;  // of the fullest GPU with the work, at its peak
};

struct FillingReport {
  double plain_s = 0;     // step without filling, and without what it needs of it
  double apart_s = 0;     // step with all needed work behind training, divided evenly
  double step_s = 0;      // with filling
  double plain_idle = 0;  // Bubble::idle without filling
  std::vector<FilledWork> work;
  std::vector<FilledRank> ranks;  // [pipeline rank]
};

}  // namespace windtunnel
