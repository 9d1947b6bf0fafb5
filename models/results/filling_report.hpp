// Work that was done in the idle time of a step, and work for which none was left (Job::filling).
// Seconds and units are per step.
#pragma once

#include <string>
#include <vector>

namespace windtunnel {

// The filling done by one kind of work, on all GPUs together.
struct FilledWork {
  std::string name;
  double unit_s = 0;     // on one GPU
  double piece_s = 0;    // the part of a unit that cannot be interrupted
  double done = 0;       // units, both hidden and exposed
  double exposed = 0;    // units for which no idle time was left
  double exposed_s = 0;  // on the GPU that has most exposed units
  bool needed = false;
  double flops = 0;           // of a unit; 0: not known
  std::string left_out = {};  // why idle time does not hold more of this work
};

// Idle time of a pipeline rank, as a mean over its GPUs: time in which the compute stream is idle.
struct FilledRank {
  double idle_s = 0;        // without filling
  double filled_s = 0;      // idle time that filling uses
  double short_s = 0;       // idle time left because no further piece fits, or kept as margin
  double memory_s = 0;      // idle time left because memory is full
  double memory_bytes = 0;  // of the fullest GPU with the work, at its peak
};

struct FillingReport {
  double plain_s = 0;     // step without filling and without the needed work
  double apart_s = 0;     // step with all needed work after training, divided evenly
  double step_s = 0;      // with filling
  double plain_idle = 0;  // Bubble::idle without filling
  std::vector<FilledWork> work;
  std::vector<FilledRank> ranks;  // [pipeline rank]
};

}  // namespace windtunnel
