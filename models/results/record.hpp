// The result of one case: what the reports print and a sweep stores.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/results/campaign_report.hpp"
#include "models/results/iteration_report.hpp"
#include "models/results/memory_timeline.hpp"

namespace windtunnel {

struct Record {
  std::string scenario;                    // name
  std::string key;                         // stable key of the case
  std::map<std::string, std::string> set;  // what --set and --vary changed
  std::string version;

  Job job;
  IterationReport iteration;
  std::optional<CampaignReport> campaign;
  std::vector<ActivationPeak> activation_peaks;  // of the simulated iteration
  OriginShares origin{};                         // shares of the predicted wall time, sum 1
  std::string memory_excess;                     // not empty: does not fit, and why
  // One simulated iteration, for the Gantt chart and the trace.
  Plan plan;
  Timeline timeline;
  std::vector<PathStep> critical_path;

  int ranks = 0;
  double wall_s = 0;  // of the simulation itself
  double peak_rss_bytes = 0;
};

}  // namespace windtunnel
