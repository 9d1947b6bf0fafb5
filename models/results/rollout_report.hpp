// The loop of inference engines and learner in steady state: what a period consists of, who waits,
// and the throughput.
#pragma once

#include "models/cost/inference/weight_transfer.hpp"
#include "models/workload/rollout.hpp"

namespace windtunnel {

struct RolloutReport {
  RolloutSpec spec;
  int engines = 1;
  int actor_gpus = 0;  // GPUs of the engines; colocated: the learner's GPUs
  int gpus = 0;        // of engines and learner
  // Means over the simulated iterations.
  double period_s = 0;  // of an iteration
  // from the first sample of a batch to the last; asynchronous: the time in which the engines
  // generate as many samples as a batch has
  double generation_s = 0;
  double training_s = 0;  // updates, the passes before them, and rewards
  double switch_s = 0;    // colocated: the training state to the host and back
  WeightTransfer transfer;
  double actors_idle = 0;  // mean share of a period in which an engine has no sequence
  double learner_idle = 0;
  double running = 0;        // mean sequences of an engine while it has any
  double slots = 0;          // sequences of mean length that fit into an engine
  double output_tokens = 0;  // of a sample
  double staleness = 0;      // versions between a sample's first token and its update
  double returned = 0;  // sequences per iteration that went back to the queue for lack of memory
  // Share of generated tokens that are lost when engines fail and are generated again, and share of
  // time in which engines are away.
  double lost_share = 0;
  double away_share = 0;
  double availability = 1;    // of the learner: useful share of a campaign's time
  double samples_per_s = 0;   // with all of the above
  double tokens_per_s = 0;    // prompts and outputs of these samples
  double usd_per_sample = 0;  // 0: the price is unknown
};

}  // namespace windtunnel
