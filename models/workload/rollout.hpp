// Reinforcement learning after pre-training: engines write samples (the actors, or rollout), the
// job of the scenario learns from them (the learner), and its weights go back to the engines. What
// a scenario says of it; the loop of both: sim/study/rollout/. Modes: HybridFlow (arXiv 2409.19256)
// and its one-step-off trainer, AReaL (arXiv 2505.24298), LlamaRL (arXiv 2505.24034).
#pragma once

#include <cstdint>
#include <string>

#include "models/base/choice.hpp"
#include "models/workload/sequence_lengths.hpp"

namespace windtunnel {

// Whether engines and learner wait for each other.
enum class RolloutMode {
  synchronous,   // samples, then updates, then weights, one after the other
  one_step_off,  // the learner works on a batch while the next one is written
  asynchronous,  // engines go on writing; samples are a limited number of versions old
};
template <>
inline constexpr Choice<RolloutMode> kChoices<RolloutMode>[] = {
    {"synchronous", RolloutMode::synchronous},
    {"one-step-off", RolloutMode::one_step_off},
    {"asynchronous", RolloutMode::asynchronous}};

// How weights reach the engines (models/cost/inference/weight_transfer.hpp).
enum class WeightPath {
  broadcast,  // to the first node of engines, and from node to node on
  direct,     // to every engine from the learner
  gather,     // tensor by tensor whole to every GPU of the learner, and from each to an engine
};
template <>
inline constexpr Choice<WeightPath> kChoices<WeightPath>[] = {{"broadcast", WeightPath::broadcast},
                                                              {"direct", WeightPath::direct},
                                                              {"gather", WeightPath::gather}};

// A copy of the model that writes samples, with continuous batching.
struct EngineSpec {
  int tp = 1;  // its GPUs
  // The share of a GPU's usable memory that weights, keys and values, and all else may take; vLLM's
  // default.
  double memory_share = 0.9;
  int most_sequences = 256;  // sequences that run at once at most, however much memory there is
  // What the host takes between two steps of decoding to schedule, sample and take in tokens:
  // assumed. Engines that return log-probabilities of what they write take longer
  // (docs/physics/reinforcement-learning.md).
  double host_step_s = 0.001;
};

struct RolloutSpec {
  RolloutMode mode = RolloutMode::synchronous;
  bool colocated = false;  // on the learner's GPUs, in turn with it
  int nodes = 0;           // nodes of the engines, besides the learner's; 0: colocated
  std::string pool;   // Where nodes are unlike: the pool that the engines' nodes are taken from.
  int staleness = 1;  // asynchronous: versions that a sample may be old at most
  bool keeps_cache = false;   // asynchronous: keys and values of old weights stay in use
  int prompts = 1;            // per iteration of the loop
  int samples = 1;            // of each prompt
  int prompt_length = 1;      // tokens
  LengthDistribution output;  // tokens that an engine writes, the end's included
  double epochs = 1;          // updates over each batch
  // What updates and passes take, over those of pre-training with the same tokens; 0: as the
  // calibration says (Calibration::rollout_update).
  double update_factor = 0;
  double passes = 0;     // forward passes over it besides: reference, reward and former policies
  double reward_s = 0;   // until rewards are there, behind the last sample
  bool offloads = true;  // colocated: the training state is on the host while engines write
  WeightPath weights = WeightPath::broadcast;
  EngineSpec engine;
  int iterations = 8;  // iterations that are simulated
  std::uint64_t seed = 1;

  int batch() const { return prompts * samples; }  // samples of an iteration
};

}  // namespace windtunnel
