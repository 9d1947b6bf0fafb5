// What breaks, how often, and how long it stays broken. Arrivals are renewal streams of the whole
// job (not of each node from age 0: a Weibull of shape 0.7 started at age 0 on every node would
// double the failures). A stream starts in its stationary state, so the mean number of arrivals in
// [0, t] is exactly rate * t (Cox, Renewal Theory, 1962).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/base/random.hpp"

namespace windtunnel {

enum class FailureKind {
  process,  // the trainer dies, the node is healthy
  node,     // the node is lost until repaired
  planned,  // a planned stop of the whole job, after a snapshot to a tier that survives it
};

enum class Arrivals { exponential, weibull, trace };

// Repair time of a node: a fixed time, or drawn from measured durations.
struct RepairTime {
  double fixed_s = 0;
  std::vector<double> empirical_s{};  // if not empty, sampled with equal weight
};

struct FailureClass {
  std::string name;  // as the scenario calls it
  FailureKind kind = FailureKind::node;
  double rate_per_node_s = 0;  // long-run mean per wall time; not read by a trace
  Arrivals arrivals = Arrivals::exponential;
  double weibull_shape = 1;       // of the gaps of the job-wide stream
  std::vector<double> trace_s{};  // arrival times of the whole job, ascending (trace)
  RepairTime repair{};            // of nodes
  double detect_s = -1;           // negative: recovery.detect; of a planned stop: nothing to detect
};

enum class WhenNoSpare { wait, shrink };

struct RecoveryPolicy {
  int spares = 0;  // nodes
  double detect_s = 0;
  double restart_s = 0;  // scheduler, processes, communicators
  WhenNoSpare when_no_spare = WhenNoSpare::wait;
};

// Throws Error: a rate, shape, repair or trace that cannot be.
void check_failure_class(const FailureClass& failure_class);

double draw_repair_s(const RepairTime& repair, RandomStream& random);

// The arrivals of one class in a job of `nodes` nodes. `failure_class` must outlive the stream.
class ArrivalStream {
 public:
  // `index` tells streams of one seed apart (replica and class).
  ArrivalStream(const FailureClass& failure_class, int nodes, std::uint64_t seed,
                std::uint64_t index);

  double next_s() const { return next_s_; }  // infinite: none any more
  void advance();                            // to the arrival after next_s()

 private:
  double traced_s() const;
  double gap_s();

  const FailureClass* class_;
  double mean_gap_s_;
  RandomStream random_;
  std::size_t trace_index_ = 0;
  double next_s_ = 0;
};

}  // namespace windtunnel
