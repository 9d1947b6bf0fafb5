// What lies beside the GPUs' memory, from checked values.
#include <memory>

#include "models/cost/offload/offload.hpp"
#include "policies/conflicts/offload_conflicts.hpp"
#include "policies/search/memory_search.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "scenarios/language/resolve/resolve_values.hpp"

namespace windtunnel {
namespace {

constexpr std::pair<const char*, MemoryTier Offload::*> kTiers[] = {
    {"offload.optimizer", &Offload::optimizer},
    {"offload.gradients", &Offload::gradients},
    {"offload.weights", &Offload::weights},
    {"offload.activations", &Offload::activations}};

// The search lays out the training state as a whole, and activations by themselves.
void open_all(const Values& values, Offload& offload) {
  if (offload.optimizer == MemoryTier::automatic) {
    for (const auto& [key, tier] : kTiers) {
      if (!values.stated(key)) offload.*tier = MemoryTier::automatic;
    }
  }
  for (const auto& [key, tier] : kTiers) {
    const bool with_optimizer = tier != &Offload::activations && tier != &Offload::optimizer;
    const bool open = offload.*tier == MemoryTier::automatic;
    if (!with_optimizer || open == (offload.optimizer == MemoryTier::automatic)) continue;
    values.fail(values.stated(key) ? key : "offload.optimizer",
                "optimizer, gradients and weights are searched together: state auto for all of "
                "them or for none");
  }
}

}  // namespace

void resolve_offload(const Values& values, const EvidenceList& evidence, Job& job) {
  const std::string path = "offload";
  if (!values.stated(path)) return;
  Offload own;
  values.fill(path, own);
  override_parameter(own.core_Bps, "offload.core_rate", values, evidence);
  open_all(values, own);
  const std::string why = why_not(own, job);
  if (!why.empty()) values.fail(path, why);
  const bool open =
      own.optimizer == MemoryTier::automatic || own.activations == MemoryTier::automatic;
  if (own.any() || open) job.offload = std::make_shared<const Offload>(own);
}

void find_memory(const Values& values, Job& job) {
  if (!leaves_memory_open(job)) return;
  if (!job.cluster.pools.empty()) {
    values.fail(job.recompute == Recompute::automatic ? "recompute" : "offload",
                "auto is of nodes of one kind, not of cluster.pools; state what you want");
  }
  job = with_memory_found(job);
}

}  // namespace windtunnel
