// How much of months of wall time became progress, as means over trials with their uncertainty, and
// where the rest went (Loss). sim/campaign fills it; which second counts as which loss:
// docs/physics/campaign.md.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace windtunnel {

// Mean over trials with its 95 % confidence interval (Student t) and the 5 % and 95 % quantiles
// of single trials.
struct Estimate {
  double mean = 0;
  double low = 0;
  double high = 0;
  double p05 = 0;
  double p95 = 0;
  bool operator==(const Estimate&) const = default;
};
// One sample: low = high = mean. Quantiles interpolate linearly between order statistics (Hyndman
// and Fan, 1996, type 7). The interval is cut at what the quantity can be: `least` and `most` (1
// for a share). Infinite as a whole when a sample is infinite. Throws Error when empty.
Estimate estimate(std::vector<double> samples,
                  double most = std::numeric_limits<double>::infinity(), double least = 0);

// Size of a job by the share of the batch that its iterations process: class 0 is the whole batch,
// higher classes less: "95 % and more", "90 to 95 %", ...
inline constexpr int kSizeClasses = 6;
int size_class(double progress);
const char* size_class_name(int size_class);

enum class Loss {
  stall,     // iterations take longer while snapshots are taken; snapshots before planned stops
  redo,      // iterations whose result was lost
  detect,    // from the failure until it is noticed
  restart,   // from the failure's detection (or the end of waiting) until the state is restored
  degraded,  // iterations with fewer replicas train less per second
  wait,      // for a node when no spare is left
  sync,      // islands of replicas wait for others at an exchange
  evaluate,  // training pauses for an evaluation (campaign.evaluation)
  log,       // training pauses for logging (campaign.logging)
};
inline constexpr int kLosses = 9;
const char* to_string(Loss loss);

// What a trial counts besides failures and snapshots. Each count has a figure
// (report/figures/figures.cpp) and is incremented through TrialResult::count.
enum class CampaignCount {
  failed_restarts,
  evicted_nodes,
  islands_lost,  // lost to failures; reported per 90 days
};
inline constexpr int kCampaignCounts = 3;

// What one tier of the stack costs and protects.
struct TierReport {
  std::string name;      // tier_name(): "host-memory", "peers", ...
  double every_s = 0;    // mean time between two snapshots, including the stall of iterations
  double saving_s = 0;   // from the start of the iteration that takes one until it is complete
  double stall_s = 0;    // how much longer that iteration takes
  double overhead = 0;   // stall_s / every_s
  double restore_s = 0;  // when all ranks read back their own data
  // restore after losing as many members as the code tolerates; 0: it tolerates none
  double rebuild_s = 0;
  double moved_bytes = 0;  // per GPU and snapshot, to the host
  double wire_bytes = 0;   // per GPU and snapshot, over the compute NICs
  double host_bytes = 0;   // of host memory, per node
  // probability, in closed form, that the tier survives every failure within 7 days
  double survival_7d = 1;
};

// What theory and simulation say about a tier. Formulas: models/reliability/interval_theory.hpp.
struct IntervalReport {
  std::string tier;
  // mean time between failures that are restored from it; 0: there are none, and no formulas hold
  double mtbf_s = 0;
  double cost_s = 0;     // stall of one snapshot
  double restart_s = 0;  // detection, restart and restore, mean
  // shortest interval at which other jobs keep their storage bandwidth; 0: no such limit
  double storage_s = 0;
  double configured_s = 0;  // mean interval
  double young_s = 0;
  double daly_s = 0;
  double exact_s = 0;          // exponential failures
  double formula_goodput = 0;  // exact exponential, at the configured interval
  double rsc_ettr = 0;         // goodput by RSC's ETTR formula, at the configured interval
  struct Point {
    double every_s = 0;
    double expected = 0;  // goodput by the exact exponential formula; 0: not known
    Estimate goodput;     // simulated, with the same random numbers at every point
  };
  std::vector<Point> points;  // ascending
  double best_s = 0;          // simulated, among points that are not below storage_s
  // bounds of the interval around the best where all points are as good (is_as_good())
  double shortest_s = 0;
  double longest_s = 0;
  double best_goodput = 0;
  // Goodput at the best interval minus that at Young's, both simulated with the failures that were
  // used to choose the best.
  double young_regret = 0;
  double exact_regret = 0;  // the best goodput minus that at exact_s
};

// Goodput if everything that the cost models predict (iterations, snapshots, loading them) were
// faster or slower by one common factor.
struct GoodputRange {
  double if_faster = 0;
  double if_slower = 0;
};

// A layout in which the job continues while a number of nodes are out.
struct RelaidLayout {
  int nodes = 0;
  int tp = 1;
  int pp = 1;
  int dp = 1;
  double step_s = 0;
  double progress = 1;  // share of the whole batch that a step processes; below 1 the batch shrinks
  bool operator==(const RelaidLayout&) const = default;
};

struct CampaignReport {
  int trials = 0;
  Estimate goodput;  // useful / wall
  // The common factor is the one within which 95 % of the calibration's predictions lie.
  GoodputRange goodput_by_model;
  Estimate ettr;  // useful / (wall - waiting for spares)
  Estimate wall_s;
  // Time that the surviving iterations would take if nothing else happened.
  Estimate useful_s;
  // By failure class; "planned" stops; and "unexpected": all other failures that interrupt or slow
  // the job.
  std::map<std::string, Estimate> failures;
  Estimate lost_s[kLosses];
  // Shares of the wall time: the mean over trials of each trial's share, as for goodput, so that
  // goodput and these shares add up to 1. Quotients of mean seconds would add up only if all trials
  // lasted equally long.
  Estimate lost[kLosses];
  // Share of unexpected failures that were restored from each tier's place, or from "none". The
  // mean is over trials with a failure; empty if there is none.
  std::map<std::string, Estimate> survival;
  // by place: snapshots that were due while the last one was unfinished
  std::map<std::string, Estimate> skipped_snapshots;
  Estimate nodes_down;  // in repair, time average
  // Share of the training time by size_class_name(); empty if the job never shrinks.
  std::map<std::string, Estimate> sizes;
  // most nodes, or groups, that may be out while the job continues; with more it waits
  int most_out = 0;
  std::vector<RelaidLayout> relaid;  // (relayout) most nodes first
  // Largest relative error, roughly, of iteration times at sizes that were not simulated.
  double size_error = 0;
  Estimate counts[kCampaignCounts];  // [CampaignCount]
  std::vector<TierReport> tiers;
  std::optional<IntervalReport> interval;       // of the tier whose snapshots cost most
  std::vector<IntervalReport> other_intervals;  // of the other tiers that save at intervals
  // Days and cost of job.tokens at this goodput. Mean 0: no tokens are set; infinite: no progress.
  Estimate job_days;
  Estimate job_cost_usd;
  // [tier] Mean interval chosen by a rule of the calling program; 0: the scenario sets it.
  std::vector<double> ruled_every_s{};
  std::vector<double> trial_goodput{};  // to compare campaigns with the same random numbers
};

}  // namespace windtunnel
