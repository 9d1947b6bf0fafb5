// The loop of a scenario with `rollout`, from its learner's iteration.
#pragma once

#include <map>

#include "models/plan/job.hpp"
#include "models/results/campaign_report.hpp"
#include "models/results/iteration_report.hpp"
#include "models/results/rollout_report.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "sim/study/rollout/rollout_loop.hpp"

namespace windtunnel {

// What the learner takes for a batch: `step_s` of an iteration, of which `forward_share` is a
// forward pass.
struct LearnerPace {
  double step_s = 0;
  double forward_share = 1.0 / 3;
  // Bytes of the fullest GPU, for colocated engines: weights and optimizer state, and with
  // gradients.
  double saved_bytes = 0;
  double held_bytes = 0;
};
LearnerPace learner_pace(const IterationReport& iteration);
// The same in closed form, of an iteration that nobody simulated.
LearnerPace estimated_pace(const Job& job, const PreparedIteration& prepared);

// [pool] An engine on nodes of each pool that has any, by its index in Cluster::pools; -1: all
// nodes are alike. However many nodes the learner and the engines have, the speeds are the same.
using EngineSpeeds = std::map<int, EngineSpeed>;
// Throws Error as engine_speed().
EngineSpeeds engine_speeds(const Job& job, const RolloutSpec& spec, const LearnerPace& pace);

// `speeds`: engine_speeds() of this job and spec. `availability` of the learner: useful share of
// its campaign's time. Throws Error about the keys at fault. Each island of replicas (Job::sync)
// has its part of the engines and of the prompts, and the step has what exchanges between islands
// add to it.
RolloutReport simulate_rollout(const Job& job, const RolloutSpec& spec, const LearnerPace& pace,
                               const EngineSpeeds& speeds, double availability = 1);
// The same of a learner whose iteration and campaign were simulated; nullptr: no campaign was.
RolloutReport simulate_rollout(const Job& job, const RolloutSpec& spec,
                               const IterationReport& iteration, const CampaignReport* campaign);

}  // namespace windtunnel
