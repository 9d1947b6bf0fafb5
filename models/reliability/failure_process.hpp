// What breaks, how often, and how long it stays broken. Arrivals are renewal streams of the whole
// job (not of each node from age 0: a Weibull of shape 0.7 started at age 0 on every node would
// double the failures). A stream starts in its stationary state, so the mean number of arrivals in
// [0, t] is exactly rate * t (Cox, Renewal Theory, 1962).
//
// Streams run in operational time: where the hazard changes (day and night, lemons that leave), the
// clock of the stream runs at another speed, so the mean stays rate * integral of that speed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/base/random.hpp"
#include "models/reliability/recovery.hpp"

namespace windtunnel {

enum class FailureKind {
  process,    // the trainer dies, the node is healthy
  node,       // the node is lost until repaired; with batch_shares several at once
  planned,    // a planned stop of the whole job, after a snapshot to a tier that survives it
  network,    // the job stops; node and host memory are healthy; the link's repair is waited
              // for where it is given, else the job restarts around it
  hang,       // nothing is lost, nothing goes on until it is noticed
  slow_node,  // the job runs `slowdown` times slower until it is noticed; the node is replaced
  corrupt_snapshot,  // the newest copy of a tier is bad; found when it is loaded
  loss_spike,        // training diverges: back to a copy from before it began
};

enum class Arrivals {
  exponential,
  weibull,
  empirical,  // recorded gaps, drawn with equal weight and scaled to the rate
  trace,      // recorded times
};

// Repair time of a lost or slow node where a scenario states none.
inline constexpr double kUsualRepair_s = 24 * 3600;

// Repair time of a node: drawn from measured durations, log-normal, or fixed.
struct RepairTime {
  double fixed_s = 0;
  std::vector<double> empirical_s{};  // if not empty, sampled with equal weight
  double lognormal_median_s = 0;      // if positive
  double lognormal_sigma = 0;
};

// Nodes that a provider takes away at once.
struct TakenNodes {
  double from_s = 0;
  std::vector<double> until_s;  // of each: infinite, for ever
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

  double rate_per_job_s = 0;  // beside the nodes' rate: what fails however small the job is
  // The nodes' rate per node grows as (nodes / growth_nodes)^growth: faults that more nodes share.
  double growth = 0;
  double growth_nodes = 1;
  std::vector<double> gaps_s{};             // (empirical)
  std::vector<std::int32_t> trace_nodes{};  // of trace_s, if recorded; else drawn
  double day_amplitude = 0;  // the rate follows 1 + amplitude * sin(2 pi t / day), below 1
  // Variance of the gamma distribution of mean 1 that nodes' hazards are drawn from (lemons); 0:
  // all nodes are equal.
  double frailty_variance = 0;
  std::vector<double> batch_shares{};  // [i]: share of failures that hit i + 1 nodes; empty: one
  bool batch_adjacent = true;          // nodes of one rack, switch or power feed; else any
  bool takes_keeper = false;  // (process) the keeper of the failed rank's memory dies as well
  double slowdown = 1;        // (slow_node) of an iteration's computation on that node
  double rollback_s = 0;      // (loss_spike) copies younger than this when it shows are spoilt
  int corrupt_tier = 0;       // (corrupt_snapshot) index into the tiers
  double manual_share = 0;    // share of the failures that need a human: RecoveryPolicy::manual_s
  double notice_s = 0;        // (node) so long before it leaves, the node is known to (preemption)
  // (trace) Of trace_s, when their notice comes; in place of batch_shares and repair.
  std::vector<TakenNodes> taken{};
};

// Whether a provider takes the node, who gives another one in its time. Else the node is broken.
inline bool is_reclaimed(const FailureClass& failure_class) {
  return failure_class.notice_s > 0 || !failure_class.taken.empty();
}

// What a provider takes who from at_s[i] on, ascending, has nodes_from[i] to give, and before that
// all the nodes of the job. Who was taken first is replaced first. A notice comes notice_s before,
// but not before the start and the last time that nodes were given, which may be those.
void set_capacity(const std::vector<double>& at_s, const std::vector<int>& nodes_from, int nodes,
                  FailureClass& failure_class);

// Long-run failures of the class per second in a job of `nodes` nodes; not for a trace.
double job_rate_per_s(const FailureClass& failure_class, int nodes);

// Mean over the first length_s: the same, or of a trace what it has there.
double mean_rate_per_s(const FailureClass& failure_class, int nodes, double length_s);

bool is_duration(double seconds);  // finite, 0 or more

// Throws Error: a rate, shape, repair or trace that cannot be.
void check_failure_class(const FailureClass& failure_class);

double draw_repair_s(const RepairTime& repair, RandomStream& random);

// How many nodes a failure hits, 1 or more.
int draw_batch(const FailureClass& failure_class, RandomStream& random);
// The mean of it.
double mean_batch(const FailureClass& failure_class);

// What the daily cycle gives from `at_s` to `to_s`: the integral of 1 + amplitude * sin(2 pi t /
// day); amplitude 0: the time between.
double operational_time_s(double at_s, double to_s, double day_amplitude);

// Wall time from `at_s` until the daily cycle has given `operational_s`; amplitude 0: the same.
double wall_time_s(double at_s, double operational_s, double day_amplitude);

// The arrivals of one class in a job of `nodes` nodes. `failure_class` must outlive the stream.
class ArrivalStream {
 public:
  // `index` tells streams of one seed apart (trial and class).
  ArrivalStream(const FailureClass& failure_class, int nodes, std::uint64_t seed,
                std::uint64_t index);

  double next_s() const { return next_s_; }  // infinite: none any more
  void advance();                            // to the arrival after next_s()
  // From now_s on arrivals come `speed` times as often as at the start, 0: not at all; a trace does
  // not change. No arrival before now_s may be waiting.
  void set_speed(double now_s, double speed);
  std::size_t traced() const { return trace_index_; }  // (trace) position of next_s()

 private:
  double traced_s() const;
  double gap_s();
  double empirical_residual_s();

  const FailureClass* class_;
  double mean_gap_s_;
  RandomStream random_;
  std::size_t trace_index_ = 0;
  double next_s_ = 0;
  double speed_ = 1;
  double empirical_scale_ = 1;  // of recorded gaps, to the rate
  double halted_s_ = 0;         // operational time to the next arrival, while the speed is 0
};

}  // namespace windtunnel
