// How much of months of wall time became progress.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace windtunnel {

// Mean over replicas with its 95 % confidence interval (Student t) and the 5 % and 95 % quantiles
// of single replicas.
struct Estimate {
  double mean = 0;
  double low = 0;
  double high = 0;
  double p05 = 0;
  double p95 = 0;
  bool operator==(const Estimate&) const = default;
};
// One sample: low = high = mean. Quantiles interpolate linearly between order statistics (Hyndman
// and Fan, 1996, type 7). The interval is cut at what the quantity can be: 0 and `most` (1 for a
// share). Infinite as a whole when a sample is infinite. Throws Error when empty.
Estimate estimate(std::vector<double> samples,
                  double most = std::numeric_limits<double>::infinity());

enum class Loss {
  stall,     // iterations take longer while snapshots are taken; snapshots before planned stops
  redo,      // iterations whose result was lost
  detect,    // from the failure until it is noticed
  restart,   // from there (or from the end of waiting) until the state is restored
  degraded,  // iterations with fewer replicas progress less than they take
  wait,      // for a node, when no spare is left
};
inline constexpr int kLosses = 6;
const char* to_string(Loss loss);

struct CampaignReport {
  int replicas = 0;
  Estimate goodput;  // useful / wall
  Estimate ettr;     // useful / (wall - waiting for spares)
  Estimate wall_s;
  // Time that the surviving iterations take when nothing else happens.
  Estimate useful_s;
  std::map<std::string, Estimate> failures;  // by class, and "unexpected", "planned"
  Estimate lost_s[kLosses];
  // Share of unexpected failures restored from each tier's place, and from "none", over the
  // replicas that had a failure; empty when none had.
  std::map<std::string, Estimate> survival;
  std::map<std::string, Estimate> skipped_snapshots;  // by place: due while the last was unfinished
  Estimate nodes_down;                                // in repair, time average
  // To train on job.tokens at this goodput. Mean 0: not asked; infinite: no progress.
  Estimate job_days;
  Estimate job_cost_usd;
};

}  // namespace windtunnel
