// The job runs for a month and crashes every few hours.
#pragma once

#include "sim/campaign/campaign.hpp"

namespace windtunnel {

// The job crashes about every 4 hours; a copy every ten iterations stalls training for 30 s.
inline CampaignInputs crashing_inputs(double detect_s) {
  constexpr double day_s = 86400;
  CampaignInputs inputs;
  inputs.nodes = 100;
  inputs.campaign = {30 * day_s, 40, 7};
  FailureClass crash{.name = "crash", .kind = FailureKind::process};
  crash.rate_per_node_s = 6 / day_s / inputs.nodes;
  inputs.failures = {crash};
  inputs.recovery = {.detect_s = detect_s, .restart_s = 180};
  inputs.table.tiers = {{{.every_iterations = 10}, 30, 60}};
  inputs.table.iteration_s = {20, 50};
  return inputs;
}

}  // namespace windtunnel
