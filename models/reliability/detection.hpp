// How a failure is noticed, and how long that takes on average. A process or node that is gone is
// missed by its heartbeats, by a watchdog on the collectives or by their time-out, whichever is
// first; one that is stuck still sends heartbeats; one that is slow delays no collective for long
// enough. A watchdog that compares the progress of the ranks (C4, arXiv 2406.04594) sees all of
// them; the time-out of a stuck collective is what torch.distributed has without it.
#pragma once

#include "models/reliability/failure_process.hpp"

namespace windtunnel {

struct Detection {
  double heartbeat_s = 0;  // between two; 0: none are sent
  int misses = 3;          // heartbeats in a row that are not heard
  double timeout_s = 600;  // timeout of a stuck collective, as torch.distributed has it; 0: none
  double watchdog_s = 0;   // until it sees what it sees; 0: there is none
};

// Mean time from the failure until it is noticed; infinite where nothing would. 0 for what shows
// itself: a planned stop, a copy that is found bad when it is loaded, a diverging loss.
double detection_s(const Detection& detection, FailureKind kind);

}  // namespace windtunnel
