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

// Sizes of a job by the share of the batch that its iterations give: 0, the whole; then less and
// less. A share is told as "95 % and more", "90 to 95 %", ...
inline constexpr int kSizeClasses = 6;
int size_class(double progress);
const char* size_class_name(int size_class);

enum class Loss {
  stall,     // iterations take longer while snapshots are taken; snapshots before planned stops
  redo,      // iterations whose result was lost
  detect,    // from the failure until it is noticed
  restart,   // from there (or from the end of waiting) until the state is restored
  degraded,  // iterations with fewer replicas progress less than they take
  wait,      // for a node, when no spare is left
  sync,      // islands of replicas wait at an exchange for others
  evaluate,  // training pauses for an evaluation (campaign.evaluation)
  log,       // or for logging (campaign.logging)
};
inline constexpr int kLosses = 9;
const char* to_string(Loss loss);

// What a trial counts besides failures and snapshots. Each has a figure
// (report/figures/figures.cpp) and is counted where it happens (TrialResult::count).
enum class CampaignCount {
  failed_restarts,
  evicted_nodes,
  islands_lost,  // to failures; told for 90 days
};
inline constexpr int kCampaignCounts = 3;

// What one tier of the stack costs and protects.
struct TierReport {
  std::string name;      // tier_name(): "host-memory", "peers", ...
  double every_s = 0;    // mean time between two snapshots, the iterations' stall included
  double saving_s = 0;   // from the start of the iteration that takes one until it is complete
  double stall_s = 0;    // how much longer that iteration takes
  double overhead = 0;   // stall_s / every_s
  double restore_s = 0;  // all ranks read back what they hold themselves
  // restore after losing as many members as the code covers; 0: it covers none
  double rebuild_s = 0;
  double moved_bytes = 0;  // per GPU and snapshot, to the host
  double wire_bytes = 0;   // per GPU and snapshot, over the compute NICs
  double host_bytes = 0;   // of host memory, per node
  // probability, in closed form, that no failure within 7 days is beyond it
  double survival_7d = 1;
};

// What theory and simulation say of a tier. Formulas: models/reliability/interval_theory.hpp.
struct IntervalReport {
  std::string tier;
  double mtbf_s = 0;        // between failures that are restored from it; 0: none is, no formulas
  double cost_s = 0;        // stall of one snapshot
  double restart_s = 0;     // detection, restart and restore, mean
  double storage_s = 0;     // shortest interval that leaves others their storage; 0: any does
  double configured_s = 0;  // mean interval
  double young_s = 0;
  double daly_s = 0;
  double exact_s = 0;          // exponential failures
  double formula_goodput = 0;  // exact exponential, at the configured interval
  double rsc_ettr = 0;         // the same by RSC's formula
  struct Point {
    double every_s = 0;
    double expected = 0;  // goodput by the exact exponential formula; 0: there is none
    Estimate goodput;     // simulated, the same random numbers at every point
  };
  std::vector<Point> points;  // ascending
  double best_s = 0;          // simulated, of the points that are not below storage_s
  double shortest_s = 0;  // the shortest interval around the best that is as good (is_as_good())
  double longest_s = 0;
  double best_goodput = 0;
  // Goodput lost at Young's interval: less there than at the best, simulated, both by the failures
  // that the best was chosen by.
  double young_regret = 0;
  double exact_regret = 0;  // the same at the interval of the exact exponential formula
};

// Goodput if all that the cost models predict (iterations, snapshots, loading them) took less time
// than they say, or more, by one factor.
struct GoodputRange {
  double if_faster = 0;
  double if_slower = 0;
};

// A layout in which the job goes on while a number of nodes are out.
struct RelaidLayout {
  int nodes = 0;
  int tp = 1;
  int pp = 1;
  int dp = 1;
  double step_s = 0;
  double progress = 1;  // share of the whole batch that a step has; less: it shrinks
  bool operator==(const RelaidLayout&) const = default;
};

struct CampaignReport {
  int trials = 0;
  Estimate goodput;  // useful / wall
  // By the factor within which 95 % of the calibration's predictions are.
  GoodputRange goodput_by_model;
  Estimate ettr;  // useful / (wall - waiting for spares)
  Estimate wall_s;
  // Time that the surviving iterations take when nothing else happens.
  Estimate useful_s;
  // By class, and "planned", and "unexpected": the others that interrupt or slow the job.
  std::map<std::string, Estimate> failures;
  Estimate lost_s[kLosses];
  // Shares of the wall time, as goodput is: the mean over trials of each trial's share. Goodput and
  // these means add up to 1; quotients of the mean seconds would only if all trials lasted equally
  // long.
  Estimate lost[kLosses];
  // Share of unexpected failures restored from each tier's place, and from "none", over the
  // trials that had a failure; empty when none had.
  std::map<std::string, Estimate> survival;
  std::map<std::string, Estimate> skipped_snapshots;  // by place: due while the last was unfinished
  Estimate nodes_down;                                // in repair, time average
  // Share of the training time by size_class_name(); empty where the job is always whole.
  std::map<std::string, Estimate> sizes;
  int most_out = 0;  // nodes, or groups, without which the job goes on; with more out it waits
  std::vector<RelaidLayout> relaid;  // (relayout) most nodes first
  // Iteration times of sizes that were not simulated are off by about this share at most.
  double size_error = 0;
  Estimate counts[kCampaignCounts];  // [CampaignCount]
  std::vector<TierReport> tiers;
  std::optional<IntervalReport> interval;       // of the tier whose snapshots cost most
  std::vector<IntervalReport> other_intervals;  // of the other tiers that save at intervals
  // To train on job.tokens at this goodput. Mean 0: not asked; infinite: no progress.
  Estimate job_days;
  Estimate job_cost_usd;
  // [tier] Mean interval that a rule of the calling program gave; 0: the scenario has an interval.
  std::vector<double> ruled_every_s{};
  std::vector<double> trial_goodput{};  // to compare campaigns with the same random numbers
};

}  // namespace windtunnel
