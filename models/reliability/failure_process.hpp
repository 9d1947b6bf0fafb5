// What fails, how often, and for how long. The arrivals of a class are one renewal stream of the
// whole job (a stream per node, each starting at age 0 with a Weibull of shape 0.7, would double
// the failures). A stream starts in its stationary state, so the mean number of arrivals in [0, t]
// is exactly rate * t (Cox, Renewal Theory, 1962).
//
// Streams run in operational time: where the hazard changes (day and night, removal of unreliable
// nodes), the stream's clock changes its speed, so the mean is rate * integral of that speed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/base/random.hpp"
#include "models/reliability/recovery.hpp"

namespace windtunnel {

enum class FailureKind {
  process,  // the trainer dies, the node is healthy
  node,     // the node is lost until repaired; batch_shares: several at once
  planned,  // a planned stop of the whole job, after a snapshot to a tier that survives it
  // the job stops; node and host memory survive; if a repair time is given the job waits for the
  // link, otherwise it restarts around it
  network,
  hang,       // nothing is lost, but the job makes no progress until it is noticed
  slow_node,  // the job runs `slowdown` times slower until it is noticed; the node is replaced
  corrupt_snapshot,  // the newest copy of a tier is corrupt; found when it is loaded
  loss_spike,        // training diverges: it returns to a copy from before
};

enum class Arrivals {
  exponential,
  weibull,
  empirical,  // recorded gaps, drawn with equal weight and scaled to the rate
  trace,      // recorded times
};

// Repair time of a lost or slow node if the scenario gives none.
inline constexpr double kUsualRepair_s = 24 * 3600;

// Repair time of a node: drawn from measured durations, log-normal, or fixed.
struct RepairTime {
  double fixed_s = 0;
  std::vector<double> empirical_s{};  // if not empty, sampled with equal weight
  double lognormal_median_s = 0;      // used if positive
  double lognormal_sigma = 0;
};

// Nodes that a provider takes away at the same time.
struct TakenNodes {
  double from_s = 0;
  std::vector<double> until_s;  // return time of each; infinite: never
};

struct FailureClass {
  std::string name;  // as in the scenario
  FailureKind kind = FailureKind::node;
  double rate_per_node_s = 0;  // long-run mean per wall time; ignored by a trace
  Arrivals arrivals = Arrivals::exponential;
  double weibull_shape = 1;       // of the gaps of the job-wide stream
  std::vector<double> trace_s{};  // arrival times of the whole job, ascending (trace)
  RepairTime repair{};            // of nodes
  double detect_s = -1;           // negative: recovery.detect; unused for planned stops

  // the job fails at this rate regardless of its number of nodes, in addition to the nodes' rate
  double rate_per_job_s = 0;
  // The rate per node grows as (nodes / growth_nodes)^growth, because shared infrastructure fails.
  double growth = 0;
  double growth_nodes = 1;
  std::vector<double> gaps_s{};             // (empirical)
  std::vector<std::int32_t> trace_nodes{};  // nodes of trace_s, if recorded; otherwise drawn
  double day_amplitude = 0;  // below 1; the rate follows 1 + amplitude * sin(2 pi t / day)
  // Variance of the gamma distribution of mean 1 from which nodes' hazards are drawn ("lemons"); 0:
  // all nodes are equal.
  double frailty_variance = 0;
  // [i]: share of failures that hit i + 1 nodes; empty: always one
  std::vector<double> batch_shares{};
  // A batch takes out nodes of one rack, switch or power feed; false: any nodes.
  bool batch_adjacent = true;
  // (process) the process that keeps the failed rank's snapshots dies as well
  bool takes_keeper = false;
  double slowdown = 1;      // (slow_node) factor on computation on that node
  double rollback_s = 0;    // (loss_spike) copies younger than this when it shows are unusable
  int corrupt_tier = 0;     // (corrupt_snapshot) index into the tiers
  double manual_share = 0;  // share of failures that need a human: RecoveryPolicy::manual_s
  double notice_s = 0;      // (node) how long in advance its loss is known (preemption)
  // (trace) One entry per arrival in trace_s, whose times are those of the notices; replaces
  // batch_shares and repair.
  std::vector<TakenNodes> taken{};
};

// Whether the node is taken by a provider, who later supplies another one. Otherwise the node is
// broken.
inline bool is_reclaimed(const FailureClass& failure_class) {
  return failure_class.notice_s > 0 || !failure_class.taken.empty();
}

// Makes a trace from a provider's capacity: from at_s[i] on (ascending) it gives nodes_from[i]
// nodes, and before at_s[0] all nodes of the job. Nodes taken first are replaced first. A notice
// comes notice_s before the loss, but not before the start or the last return of nodes, since it
// may concern returned nodes.
void set_capacity(const std::vector<double>& at_s, const std::vector<int>& nodes_from, int nodes,
                  FailureClass& failure_class);

// Long-run failures of the class per second in a job of `nodes` nodes; not for a trace.
double job_rate_per_s(const FailureClass& failure_class, int nodes);

// Mean rate over the first length_s: job_rate_per_s(), or for a trace the recorded arrivals.
double mean_rate_per_s(const FailureClass& failure_class, int nodes, double length_s);

bool is_duration(double seconds);  // finite, 0 or more

// Throws Error if a rate, shape, repair or trace is invalid.
void check_failure_class(const FailureClass& failure_class);

double draw_repair_s(const RepairTime& repair, RandomStream& random);

// Draws the number of nodes that a failure hits, at least 1.
int draw_batch(const FailureClass& failure_class, RandomStream& random);
// Mean of draw_batch().
double mean_batch(const FailureClass& failure_class);

// How much operational time passes between `at_s` and `to_s` under the daily cycle: the integral of
// 1 + amplitude * sin(2 pi t / day), which is to_s - at_s if the amplitude is 0.
double operational_time_s(double at_s, double to_s, double day_amplitude);

// Inverse of operational_time_s(): wall time from `at_s` until `operational_s` have passed.
double wall_time_s(double at_s, double operational_s, double day_amplitude);

// The arrivals of one class in a job of `nodes` nodes. `failure_class` must outlive the stream.
class ArrivalStream {
 public:
  // `index` tells streams of one seed apart (trial and class).
  ArrivalStream(const FailureClass& failure_class, int nodes, std::uint64_t seed,
                std::uint64_t index);

  double next_s() const { return next_s_; }  // infinite: none left
  void advance();                            // to the arrival after next_s()
  // From now_s on, arrivals are `speed` times as frequent as at the start, 0: none; a trace is
  // unaffected. All arrivals before now_s must have been consumed.
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
  double empirical_scale_ = 1;  // factor from recorded gaps to the rate
  double halted_s_ = 0;         // operational time left to the next arrival while the speed is 0
};

}  // namespace windtunnel
