// What breaks, how often, and how long it stays broken.
#pragma once

#include <string>
#include <vector>

namespace windtunnel {

enum class FailureKind {
  process,   // the trainer dies, the node is healthy
  node,      // the node is lost until repaired
  planned,   // a planned stop of the whole job: a snapshot is taken first, nothing is redone
};

enum class Arrivals { exponential, weibull, trace };

// Repair time of a node: a fixed time, or drawn from measured durations.
struct RepairTime {
  double fixed_s = 0;
  std::vector<double> empirical_s;   // if not empty, sampled with equal weight
};

struct FailureClass {
  std::string name;                  // as the scenario calls it
  FailureKind kind = FailureKind::node;
  double rate_per_node_s = 0;        // long-run mean per wall time
  Arrivals arrivals = Arrivals::exponential;
  double weibull_shape = 1;          // of the gaps of the job-wide stream
  std::vector<double> trace_s;       // arrival times of the whole job, ascending (trace)
  RepairTime repair;                 // of nodes
  double detect_s = -1;              // negative: recovery.detect
};

enum class WhenNoSpare { wait, shrink };

struct RecoveryPolicy {
  int spares = 0;                    // nodes
  double detect_s = 0;
  double restart_s = 0;              // scheduler, processes, communicators
  WhenNoSpare when_no_spare = WhenNoSpare::wait;
};

}  // namespace windtunnel
