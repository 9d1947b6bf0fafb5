// The learner's weights to the engines. Each engine needs all that a step changes (the whole model,
// or adapters alone), divided among its GPUs as its own tensor parallelism says; the learner's
// ranks hold parts by its pipeline and tensor parallelism, and each of its replicas the same ones
// (under ZeRO-3 a share of them). A GPU of an engine gets what its slice has in common with each of
// theirs; replicas send equal shares.
//
// Pipelined in small pieces, a transfer takes what its busiest link takes for all that crosses it,
// and the latency of the longest chain of hops.
//
// Gathered, as verl and NeMo RL do by default, every GPU of the learner gets each tensor whole
// under the name that engines know it by, so that the whole model enters each GPU, and every tensor
// is a collective and some Python of its own: Calibration::gathered_tensor_s. A model of experts
// has tens of thousands of them. Engines on nodes of their own then get each tensor over the NICs.
#pragma once

#include <cstdint>
#include <vector>

#include "models/network/collectives/collective.hpp"
#include "models/plan/job.hpp"
#include "models/workload/rollout.hpp"

namespace windtunnel {

// Where learner and engines stand: nodes of the learner first, those of the engines behind them,
// or none where they are colocated.
struct RolloutMachine {
  Cluster cluster;    // of both
  int first_gpu = 0;  // of the engines
  int engines = 1;
  // [engine] index into the learner's pools of the nodes that it stands on, of unlike ones that of
  // the slowest; empty: all nodes are alike.
  std::vector<int> pools = {};
};
// Throws Error about the keys at fault.
RolloutMachine rollout_machine(const Job& learner, const RolloutSpec& rollout);

// Payloads from GPU to GPU of `machine.cluster`, each pair once or more.
struct WeightFlows {
  std::vector<std::int32_t> gpus;  // that take part; sources and destinations count in them
  std::vector<CollectiveEdge> edges;
  int hops = 1;  // of the longest chain
};
// Matrices and vectors as checkpoints of Hugging Face name them, each expert's of its own.
double weight_tensors(const TransformerSpec& model);

// Not for `weights: gather`, which has no flows between single GPUs.
WeightFlows weight_flows(const Job& learner, const RolloutSpec& rollout,
                         const RolloutMachine& machine);

struct WeightTransfer {
  double seconds = 0;
  double transfer_s = 0;  // of them the busiest link's, at what transfers reach of its rate
  double bound_s = 0;     // likewise at its nominal rate: no schedule of these bytes is faster
  double model_bytes = 0;
  double sent_bytes = 0;  // all payloads
};
WeightTransfer weight_transfer(const Job& learner, const RolloutSpec& rollout,
                               const RolloutMachine& machine);

}  // namespace windtunnel
