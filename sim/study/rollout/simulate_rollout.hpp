// Simulates the reinforcement-learning loop of a scenario with `rollout`, from its learner's step.
#pragma once

#include <map>

#include "models/plan/job.hpp"
#include "models/results/campaign_report.hpp"
#include "models/results/iteration_report.hpp"
#include "models/results/rollout_report.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "sim/study/rollout/rollout_loop.hpp"

namespace windtunnel {

// The learner's time per batch: `step_s` per iteration, a share of it for a forward pass.
struct LearnerPace {
  double step_s = 0;
  double forward_share = 1.0 / 3;
  // Bytes on the fullest GPU, which colocated engines must know: weights and optimizer state, and
  // these with gradients.
  double saved_bytes = 0;
  double held_bytes = 0;
};
LearnerPace learner_pace(const IterationReport& iteration);
// Returns the same in closed form, for an iteration that was not simulated.
LearnerPace estimated_pace(const Job& job, const PreparedIteration& prepared);

// Speeds of engines on nodes of each pool that has engines, by index in Cluster::pools; -1: all
// nodes are alike. They do not depend on the numbers of nodes.
using EngineSpeeds = std::map<int, EngineSpeed>;
// Throws Error as engine_speed() does.
EngineSpeeds engine_speeds(const Job& job, const RolloutSpec& spec, const LearnerPace& pace);

// `speeds`: engine_speeds() of this job and spec. `availability`: useful share of the time in the
// learner's campaign. Throws Error about the keys at fault. Each island of replicas (Job::sync) has
// a part of the engines and of the prompts, and steps include exchanges between islands.
RolloutReport simulate_rollout(const Job& job, const RolloutSpec& spec, const LearnerPace& pace,
                               const EngineSpeeds& speeds, double availability = 1);
// Does the same for a learner with a simulated iteration and, unless nullptr, a campaign.
RolloutReport simulate_rollout(const Job& job, const RolloutSpec& spec,
                               const IterationReport& iteration, const CampaignReport* campaign);

}  // namespace windtunnel
