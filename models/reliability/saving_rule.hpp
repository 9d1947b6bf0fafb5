// How long a tier waits until its next snapshot, decided while the job runs: the calling program
// brings the rule, and a scenario names it in place of an interval. It is asked at each start and
// restart of training and at the start of each snapshot; the first iteration that starts so long
// after that moment takes the next one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace windtunnel {

// What a rule is told. Times are of the simulated campaign.
struct SavingMoment {
  int tier = 0;                // of the scenario's snapshots, from 0
  int trial = 0;               // of the campaign, from 0
  double now_s = 0;            // since the campaign began
  double training_s = 0;       // since training last started: nothing stopped it meanwhile
  std::int64_t iteration = 0;  // the next to run; a snapshot is of the state before it
  double iteration_s = 0;      // of one without a snapshot, on the nodes that there are
  double stall_s = 0;          // by which a snapshot of this tier alone makes one longer
  double complete_s = 0;       // from its start until it can be restored
  double restore_s = 0;        // to read it back
  std::int64_t failures = 0;   // so far: unexpected ones, fatal or not
  double mtbf_s = 0;  // mean time between such failures by the scenario's rates; infinite: none
};

struct SavingRule {
  std::string name;
  // Seconds until the next snapshot, finite and above 0. Trials call it side by side.
  std::function<double(const SavingMoment& moment)> every_s;
};

using OwnSavingRules = std::vector<std::shared_ptr<const SavingRule>>;  // of the calling program

}  // namespace windtunnel
