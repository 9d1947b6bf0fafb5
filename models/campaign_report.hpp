// How much of months of wall time became progress.
#pragma once

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
};
Estimate estimate(std::vector<double> samples);

enum class Loss { stall, redo, detect, restart, degraded, wait };
inline constexpr int kLosses = 6;
const char* to_string(Loss loss);

struct CampaignReport {
  int replicas = 0;
  Estimate goodput;       // useful / wall
  Estimate ettr;          // useful / (wall - waiting for spares)
  Estimate wall_s;
  Estimate useful_s;      // time the surviving iterations take with nothing else happening
  Estimate iterations;    // that survived
  std::map<std::string, Estimate> failures;   // by class, and "unexpected", "planned"
  Estimate lost_s[kLosses];
  std::map<std::string, Estimate> survival;   // share of failures restored from each tier, "none"
  Estimate job_days;      // to train on job.tokens at this goodput; mean 0: not asked
  Estimate job_cost_usd;
};

}  // namespace windtunnel
