// What the parts of a step's and of a campaign's time are, for people who meet their names first.
#pragma once

#include "models/plan/task_cost.hpp"
#include "models/results/campaign_report.hpp"

namespace windtunnel {

// As far as it is on the critical path: what else runs meanwhile makes no step longer.
inline constexpr const char* kCategoryHelp[kCategories] = {
    ("the model's forward passes, as far as they are on the critical path: the tasks that follow "
     "each other without a gap and so set the step time"),
    "backward passes, which compute gradients, on the critical path",
    "forward passes done again so that their activations need not be kept, on the critical path",
    "the update of the weights, on the critical path",
    "tensor parallelism: collectives within layers that are split among GPUs, on the critical path",
    "context parallelism: exchanges among GPUs that share a sequence, on the critical path",
    "pipeline parallelism: messages between stages and waiting for them, on the critical path",
    "expert parallelism: tokens sent to the GPUs of their experts and back, on the critical path",
    "data parallelism: gradients reduced and weights gathered among replicas, on the critical path",
    "copies of the training state for later restarts, on the critical path",
    "nothing runs on the critical path: a later start, a straggler",
    "the GPU waits for its host to launch kernels, on the critical path",
    "kernels that encode and decode compressed gradients, on the critical path",
    "what islands of replicas exchange between their steps, on the critical path",
    "copies between GPU and host or drives, and what the host computes, on the critical path",
    "other work in the idle time of ranks, as far as it makes the critical path longer",
    "samples are read and prepared, on the critical path"};

inline constexpr const char* kLossHelp[kLosses] = {
    "longer iterations while snapshots are taken, and snapshots before planned stops",
    "iterations whose result was lost",
    "from a failure until it is noticed",
    "from there, or from the end of waiting, until the state is restored",
    "iterations with fewer replicas progress less than they take",
    "for a node, when no spare is left",
    "islands of replicas wait at an exchange for others",
    "training pauses for evaluations (campaign.evaluation)",
    "training pauses to write logs (campaign.logging)"};

}  // namespace windtunnel
