// Reinforcement learning after pre-training: inference engines generate samples (the actors, or
// rollout), the scenario's job trains on them (the learner), and the new weights go to the engines.
// These are the scenario's settings; sim/study/rollout/ simulates the loop. Modes: HybridFlow
// (arXiv 2409.19256) and its one-step-off trainer, AReaL (arXiv 2505.24298), LlamaRL (arXiv
// 2505.24034).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/base/choice.hpp"
#include "models/base/precision.hpp"
#include "models/workload/sequence_lengths.hpp"

namespace windtunnel {

// Whether engines and learner wait for each other.
enum class RolloutMode {
  synchronous,   // generation, then updates, then weight transfer
  one_step_off,  // the learner trains on a batch while the next one is generated
  // engines generate continuously; samples are at most a given number of versions old
  asynchronous,
};
template <>
inline constexpr Choice<RolloutMode> kChoices<RolloutMode>[] = {
    {"synchronous", RolloutMode::synchronous},
    {"one-step-off", RolloutMode::one_step_off},
    {"asynchronous", RolloutMode::asynchronous}};

// How weights reach the engines (models/cost/inference/weight_transfer.hpp).
enum class WeightPath {
  broadcast,  // to the first node of engines, then from node to node
  direct,     // from the learner directly to every engine
  gather,     // tensor by tensor, gathered on every GPU of the learner, and from each to an engine
  packed,     // as gather, but tensors leave in two buffers, one of which is sent while the other
              // is gathered
  reshard,    // matrices of MLPs and experts from shard to shard, everything else packed
};
template <>
inline constexpr Choice<WeightPath> kChoices<WeightPath>[] = {{"broadcast", WeightPath::broadcast},
                                                              {"direct", WeightPath::direct},
                                                              {"gather", WeightPath::gather},
                                                              {"packed", WeightPath::packed},
                                                              {"reshard", WeightPath::reshard}};
// Whether every GPU of the learner gets each tensor whole.
inline bool gathers_tensors(WeightPath path) {
  return path == WeightPath::gather || path == WeightPath::packed;
}

// An inference engine: a copy of the model that generates samples with continuous batching.
struct EngineSpec {
  int tp = 1;  // its number of GPUs
  // Share of a GPU's usable memory for weights, keys and values and everything else; the default is
  // vLLM's.
  double memory_share = 0.9;
  int most_sequences = 256;  // upper limit of concurrent sequences, regardless of memory
  // Host time between two decoding steps (assumed), for scheduling, sampling and receiving tokens.
  // Engines that return log-probabilities take longer (docs/physics/reinforcement-learning.md).
  double host_step_s = 0.001;
  // It computes products and keeps weights in this format; none: the job's, or bf16 if that is
  // scaled.
  std::optional<Precision> precision = {};
  bool cuda_graphs = true;  // false: the host starts each kernel of a step (enforce_eager of vLLM)
};

struct RolloutSpec {
  RolloutMode mode = RolloutMode::synchronous;
  bool colocated = false;     // engines share the learner's GPUs and alternate with it
  int nodes = 0;              // nodes for engines, in addition to the learner's; 0: colocated
  std::string pool;           // if nodes differ: the pool of the engines' nodes
  int staleness = 1;          // asynchronous: most versions that a sample may be old
  bool keeps_cache = false;   // asynchronous: keys and values of old weights are kept
  int prompts = 1;            // per iteration of the loop
  int samples = 1;            // per prompt
  int prompt_length = 1;      // tokens
  LengthDistribution output;  // tokens generated per sample, including the end token
  double epochs = 1;          // passes of the updates over each batch
  // Time of updates and passes divided by that of pre-training with the same tokens; 0:
  // Calibration::rollout_update.
  double update_factor = 0;
  // additional forward passes per batch: reference, reward and previous policies
  double passes = 0;
  double reward_s = 0;   // time from the last sample until rewards are known
  bool offloads = true;  // colocated: training state is on the host during generation
  WeightPath weights = WeightPath::broadcast;
  EngineSpec engine;
  int iterations = 8;  // number of simulated iterations
  std::uint64_t seed = 1;

  int batch() const { return prompts * samples; }  // samples per iteration
};

}  // namespace windtunnel
