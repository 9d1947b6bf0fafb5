// The loop of engines and learner in its steady state: what a period of it consists of, who waits,
// and what comes out.
#pragma once

#include "models/cost/inference/weight_transfer.hpp"
#include "models/workload/rollout.hpp"

namespace windtunnel {

struct RolloutReport {
  RolloutSpec spec;
  int engines = 1;
  int actor_gpus = 0;  // of the engines; colocated: those of the learner
  int gpus = 0;        // of both
  // Means over the simulated iterations.
  double period_s = 0;  // of an iteration
  // from the first sample of a batch to the last; asynchronous: the time in which the engines write
  // that many samples
  double generation_s = 0;
  double training_s = 0;  // updates, the passes before them, and rewards
  double switch_s = 0;    // colocated: the training state to the host and back
  WeightTransfer transfer;
  double actors_idle = 0;  // share of a period in which an engine has no sequence, on average
  double learner_idle = 0;
  double running = 0;        // sequences of an engine that has any, on average
  double slots = 0;          // sequences of mean length that an engine has room for
  double output_tokens = 0;  // of a sample
  double staleness = 0;      // versions between a sample's first token and its update
  double returned = 0;       // sequences of an iteration that memory sent back to the queue
  // Share of what engines write that is lost with failing engines and written again, and share of
  // their time in which they are away.
  double lost_share = 0;
  double away_share = 0;
  double availability = 1;    // of the learner: useful share of a campaign's time
  double samples_per_s = 0;   // all of this counted
  double tokens_per_s = 0;    // prompts and outputs of these samples
  double usd_per_sample = 0;  // 0: no price is known
};

}  // namespace windtunnel
