// When to save, decided while a campaign runs: a function from what is known at a start or a
// snapshot to the time until the next one. Case::add_saving_rule gives it a name, which stands at
// `snapshots.*.every` in place of an interval.
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
  double iteration_s = 0;      // of one without a snapshot, on the nodes that there are
  double stall_s = 0;          // by which a snapshot of this tier makes one longer
  double complete_s = 0;       // from its start until it can be restored
  double restore_s = 0;        // to read it back
  std::int64_t failures = 0;   // so far: unexpected ones, fatal or not
  double mtbf_s = 0;           // mean time between such by the scenario's rates; infinite: none
};

// Seconds from this moment to the next snapshot, finite and above 0: the first iteration that
// starts then or later takes it; none starts before the last copy is complete. Asked at each start
// and restart of training and at the start of each snapshot; trials ask side by side from several
// threads, so that equal moments must get equal answers.
using SavingRule = std::function<double(const SavingMoment&)>;

}  // namespace windtunnel_api
