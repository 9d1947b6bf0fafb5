// When to save, decided during a campaign: a function from the state at a start or a snapshot to
// the time until the next snapshot. Case::add_saving_rule gives it a name, which
// `snapshots.*.every` can use instead of an interval.
#pragma once

#include <cstdint>
#include <functional>

namespace windtunnel_api {

// Times are of the simulated campaign.
struct SavingMoment {
  int tier = 0;                // of the scenario's snapshots, from 0
  int trial = 0;               // of the campaign, from 0
  double now_s = 0;            // since the campaign began
  double training_s = 0;       // since training last started
  std::int64_t iteration = 0;  // the next to run
  double iteration_s = 0;      // duration without a snapshot, on the available nodes
  double stall_s = 0;          // by which a snapshot of this tier lengthens an iteration
  double complete_s = 0;       // from a snapshot's start until it can be restored
  double restore_s = 0;        // time to restore a snapshot
  std::int64_t failures = 0;   // unexpected failures so far, fatal or not
  double mtbf_s = 0;  // mean time between such failures by the scenario's rates; infinite: none
};

// Returns the seconds from this moment to the next snapshot, finite and above 0. The first
// iteration that starts at or after that time takes the snapshot, but not before the last copy is
// complete. Called at each start and restart of training and at the start of each snapshot. Trials
// call it concurrently from several threads; equal moments must get equal answers.
using SavingRule = std::function<double(const SavingMoment&)>;

}  // namespace windtunnel_api
