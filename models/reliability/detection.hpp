// How a failure is noticed, and the mean time until then. A dead process or node is detected by
// missing heartbeats, a watchdog on the collectives or their time-out, whichever is first. A hung
// process still sends heartbeats. A slow one does not delay a collective until its time-out. A
// watchdog that compares the progress of ranks (C4, arXiv 2406.04594) detects all three; without
// it, torch.distributed has only the time-out of a collective.
#pragma once

#include "models/reliability/failure_process.hpp"

namespace windtunnel {

struct Detection {
  double heartbeat_s = 0;  // interval; 0: none are sent
  int misses = 3;          // consecutive missing heartbeats that count as a failure
  double timeout_s = 600;  // time-out of a stuck collective, as in torch.distributed; 0: none
  double watchdog_s = 0;   // time until the watchdog detects a problem; 0: there is none
};

// Mean time from the failure until it is noticed; infinite if nothing detects it. 0 for what shows
// by itself: a planned stop, a bad copy found when loaded, a diverging loss.
double detection_s(const Detection& detection, FailureKind kind);

}  // namespace windtunnel
