// The loop of inference engines and learner in steady state: what a period consists of, who waits,
// and the throughput.
#pragma once

#include "models/cost/inference/weight_transfer.hpp"
#include "models/workload/rollout.hpp"

namespace windtunnel {

// Means over the simulated iterations.
struct LoopTimes {
  double period_s = 0;
  // from the first sample of a batch to the last; asynchronous: the time in which the engines
  // generate as many samples as a batch has
  double generation_s = 0;
  double training_s = 0;     // updates, the passes before them, and rewards
  double actors_idle = 0;    // share of time: engines neither generate nor get weights
  double learner_idle = 0;   // the learner neither trains nor sends; colocated: as actors_idle
  double running = 0;        // mean number of sequences of an engine while it has any
  double token_time_s = 0;   // between two tokens of a sequence
  double output_tokens = 0;  // mean per sample
  double square_tokens = 0;  // mean of the square of a sample's output tokens
  double staleness = 0;      // versions from a sample's first token to the update that uses it
  double returned = 0;       // sequences that return to the queue for lack of memory, per iteration
};

// The period includes what failures of engines cost.
struct RolloutReport : LoopTimes {
  RolloutSpec spec;
  int engines = 1;
  int actor_gpus = 0;   // GPUs of the engines; colocated: the learner's GPUs
  int gpus = 0;         // of engines and learner
  double switch_s = 0;  // colocated: the training state to the host and back
  WeightTransfer transfer;
  double slots = 0;  // sequences of mean length that fit into an engine
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
