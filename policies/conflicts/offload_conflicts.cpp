#include "policies/conflicts/offload_conflicts.hpp"

#include "models/workload/training.hpp"
#include "policies/exchange/compressed_reductions.hpp"

namespace windtunnel {
namespace {

bool is_away(MemoryTier tier) {
  return tier == MemoryTier::host || tier == MemoryTier::disk;
}

std::string why_no_state(const Offload& offload, const Job& job) {
  const bool alone = job.layout.island_replicas() == 1;
  const bool moves = is_away(offload.gradients) || is_away(offload.weights);
  if (moves && !offload.updates_on_host()) {
    return "gradients and weights lie beside the GPU only with the optimizer that needs them "
           "there; set offload.optimizer: host or disk";
  }
  if (is_away(offload.gradients) && !alone && job.layout.sharding < Sharding::zero2) {
    const std::string rule = "gradients that are summed once per step stay on the GPU until then; ";
    // Chunks take gradients and weights along.
    return rule + (offload.in_chunks()
                       ? "take layout.sharding: zero3, or offload.placement: shares"
                       : "take layout.sharding: zero2 or zero3, or leave offload.gradients out");
  }
  if (is_away(offload.weights) && !alone && job.layout.sharding != Sharding::zero3) {
    return "weights beside the GPU are gathered layer by layer; take layout.sharding: zero3";
  }
  return {};
}

// Where parts of the model are not trained.
std::string why_no_parts(const Offload& offload, const Job& job) {
  const Training* training = job.training.get();
  if (training == nullptr) return {};
  if (is_zeroth_order(training)) {
    return "of a step without a backward pass (train.method: zeroth-order) nothing but weights is "
           "left to move, which is not modelled";
  }
  const bool parts = training->adapter.kind != AdapterKind::none || training->frozen_embedding ||
                     training->frozen_head || !training->frozen_layers.empty();
  if (parts && is_away(offload.weights) && job.layout.sharding != Sharding::zero3) {
    return "weights of which some are frozen (train) come layer by layer; take layout.sharding: "
           "zero3, or leave offload.weights out";
  }
  return {};
}

std::string why_no_activations(const Offload& offload, const Job& job) {
  if (!is_away(offload.activations)) return {};
  if (job.lengths) return "activations of sequences of unequal length (batch.lengths) stay";
  if (job.schedule.slices > 1) return "activations of slices (schedule.slices) stay on the GPU";
  if (job.network && offload.layers.empty()) {
    return "of a table of layers a search says which activations move; set offload.activations: "
           "auto";
  }
  return {};
}

// PatrickStar's chunks: whole tensors of a model that is on every GPU's ranks alike, whose
// gradients take the place of the weights that they are of.
std::string why_no_chunks(const Offload& offload, const Job& job) {
  if (!offload.in_chunks()) return {};
  const std::string rule = "chunks (offload.placement) ";
  if (job.network)
    return rule + "hold the weights of a transformer; take offload.placement: shares";
  if (job.layout.pp > 1 || job.layout.vpp > 1) {
    return rule + "are of a model that is not cut into stages; take layout.pp: 1";
  }
  if (job.model.moe_layers() > 0) {
    return rule + "are shared by all ranks, which experts are not; take offload.placement: shares";
  }
  if (!is_mixed(job.precision)) {
    return rule + "hold 16-bit weights, whose place their gradients take; take precision: bf16";
  }
  if (job.training) return rule + "are of a model that is trained as a whole; leave train out";
  if (job.lengths) return rule + "are not planned for unequal lengths (batch.lengths)";
  if (job.schedule.slices > 1) return rule + "are not planned for slices (schedule.slices)";
  if (microbatches(job.layout, job.batch) > 1) {
    return rule +
           "give the place of weights to their gradients, which the next micro-batch would "
           "need; take batch.micro x layout.dp = batch.global";
  }
  return {};
}

}  // namespace

std::string why_not(const Offload& offload, const Job& job) {
  if (!offload.any()) return {};
  if (!job.cluster.pools.empty()) return "of unlike nodes (cluster.pools) is not modelled";
  if (crosses_iterations(job.communication.overlap)) {
    return "does not go with communication.overlap: dear or priority, whose gradients arrive in "
           "the next step; take communication.overlap: bucketed or none";
  }
  if (job.software.post_validation) {
    return "does not go with software.post_validation, which steps twice; leave one of them out";
  }
  std::string why = why_no_chunks(offload, job);
  if (why.empty()) why = why_no_parts(offload, job);
  if (why.empty()) why = why_no_state(offload, job);
  return why.empty() ? why_no_activations(offload, job) : why;
}

}  // namespace windtunnel
