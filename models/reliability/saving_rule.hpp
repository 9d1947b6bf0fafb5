// A rule of the calling program that decides during the job when a tier takes its next snapshot. A
// scenario names it instead of an interval. It is called at each start and restart of training and
// at the start of each snapshot. The first iteration that starts at least the returned time later
// takes the next snapshot.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace windtunnel {

// Input of a rule. Times are of the simulated campaign.
struct SavingMoment {
  int tier = 0;                // of the scenario's snapshots, from 0
  int trial = 0;               // of the campaign, from 0
  double now_s = 0;            // since the campaign began
  double training_s = 0;       // since training last started without interruption
  std::int64_t iteration = 0;  // the next to run; a snapshot holds the state before it
  double iteration_s = 0;      // duration without a snapshot, on the available nodes
  double stall_s = 0;          // by which a snapshot of only this tier lengthens an iteration
  double complete_s = 0;       // from its start until it can be restored
  double restore_s = 0;        // time to restore it
  std::int64_t failures = 0;   // unexpected failures so far, fatal or not
  double mtbf_s = 0;  // mean time between such failures by the scenario's rates; infinite: none
};

struct SavingRule {
  std::string name;
  // Seconds until the next snapshot, finite and above 0. Trials call it concurrently.
  std::function<double(const SavingMoment& moment)> every_s;
};

using OwnSavingRules = std::vector<std::shared_ptr<const SavingRule>>;  // of the calling program

}  // namespace windtunnel
