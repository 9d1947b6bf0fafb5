// Transfer of the learner's weights to the engines. Each engine needs everything that a step
// changes (the whole model, or only adapters), divided among its GPUs by its own tensor
// parallelism. The learner's ranks hold parts by pipeline and tensor parallelism, and its replicas
// hold the same parts (under ZeRO-3 a share of them). A GPU of an engine gets the overlap of its
// slice with each rank's part; replicas send equal shares.
//
// A transfer is pipelined in small pieces: it takes the time of its busiest link, plus the latency
// of the longest chain of hops.
//
// With `gather`, the default in verl, and `packed`, that of NeMo RL, every GPU of the learner gets
// each whole tensor under the engines' name for it. The whole model thus enters each GPU, and every
// tensor costs a collective and Python code: Calibration::gathered_tensor_s. A model with experts
// has tens of thousands of tensors. Engines on other nodes then get each tensor over the NICs: with
// `gather` after it is gathered; with `packed`, in buffers, while the next tensors are gathered.
#pragma once

#include <cstdint>
#include <vector>

#include "models/network/collectives/collective.hpp"
#include "models/plan/job.hpp"
#include "models/workload/rollout.hpp"

namespace windtunnel {

// The learner's nodes, followed by those of the engines unless they are colocated.
struct RolloutMachine {
  Cluster cluster;    // of learner and engines
  int first_gpu = 0;  // first GPU of the engines
  int engines = 1;
  // [engine] index of its nodes' pool in the learner's pools, the slowest one if they differ;
  // empty: all nodes are alike.
  std::vector<int> pools = {};
};
// Throws Error about the keys at fault.
RolloutMachine rollout_machine(const Job& learner, const RolloutSpec& rollout);

// Payloads from GPU to GPU of `machine.cluster`; a pair may occur several times.
struct WeightFlows {
  // GPUs that take part; sources and destinations are indices into it
  std::vector<std::int32_t> gpus;
  std::vector<CollectiveEdge> edges;
  int hops = 1;  // in the longest chain
};
// Matrices and vectors as named in Hugging Face checkpoints, counting each expert's separately.
double weight_tensors(const TransformerSpec& model);

// Must not be called if gathers_tensors(): then there are no flows between single GPUs.
WeightFlows weight_flows(const Job& learner, const RolloutSpec& rollout,
                         const RolloutMachine& machine);

struct WeightTransfer {
  double seconds = 0;
  double transfer_s = 0;  // the busiest link's part of it, at the bandwidth that transfers reach
  // the same at nominal bandwidth: a lower bound for any schedule of these bytes
  double bound_s = 0;
  double model_bytes = 0;
  double sent_bytes = 0;  // all payloads together
};
WeightTransfer weight_transfer(const Job& learner, const RolloutSpec& rollout,
                               const RolloutMachine& machine);

}  // namespace windtunnel
