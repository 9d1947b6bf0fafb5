// What a job offloads from the GPUs' memory, from checked values.
#include <fmt/format.h>

#include <memory>
#include <string_view>
#include <utility>

#include "models/cost/offload/offload.hpp"
#include "policies/search/memory_search.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "scenarios/language/text/choices.hpp"

namespace windtunnel {
namespace {

constexpr std::pair<const char*, MemoryTier Offload::*> kTiers[] = {
    {"offload.optimizer", &Offload::optimizer},
    {"offload.gradients", &Offload::gradients},
    {"offload.weights", &Offload::weights},
    {"offload.activations", &Offload::activations}};

// The search places the training state as a whole, and activations separately.
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
                "places of optimizer, gradients and weights are searched only together; set "
                "offload: auto, or state each place");
  }
}

// Chunks hold the whole training state; how much of it is on the GPU follows from the free memory.
void lay_in_chunks(const Values& values, Offload& offload) {
  refuse_unused(
      values, "offload",
      {{!offload.in_chunks(), {"chunk"}, "applies to offload.placement: chunks"},
       {offload.in_chunks(),
        {"optimizer_share", "delayed"},
        "applies to offload.placement: shares; chunks follow from the free memory on the GPU"}});
  if (!offload.in_chunks()) return;
  for (const auto& [key, tier] : kTiers) {
    if (tier == &Offload::activations) continue;
    if (values.stated(key) && offload.*tier != MemoryTier::host) {
      values.fail(key, "is always host with offload.placement: chunks; leave it out");
    }
    offload.*tier = MemoryTier::host;
  }
}

// Refuses keys that nothing offloaded uses.
void check_uses(const Values& values, const Offload& own, const Job& job) {
  const auto moves = [](MemoryTier tier) {
    return tier == MemoryTier::host || tier == MemoryTier::disk;
  };
  const bool open = own.optimizer == MemoryTier::automatic;
  const std::string of_optimizer =
      "applies to an offloaded optimizer; set offload.optimizer: host or disk";
  refuse_unused(
      values, "offload",
      {{!moves(own.optimizer), {"optimizer_share"}, of_optimizer},
       {!moves(own.optimizer) && !open, {"delayed"}, of_optimizer},
       {!moves(own.activations),
        {"activation_share"},
        "applies to offloaded activations; set offload.activations: host or disk"},
       {own.hidden && !moves(own.activations),
        {"hidden"},
        "applies to offloaded activations; set offload.activations: host"},
       {own.hidden, {"activation_share"}, "is chosen by offload.hidden; leave one of them out"},
       {own.hidden && job.network,
        {"hidden"},
        "applies to transformers; set offload.activations: auto"},
       {!own.any() && !open,
        {"tiles", "sections"},
        "applies to offloaded layers; set offload.weights: host or offload.activations: host"}});
  if (own.cores > job.cluster.node.cpu_cores.value) {
    values.fail("offload.cores",
                fmt::format("is more than the {:g} that a node has for all its GPUs",
                            job.cluster.node.cpu_cores.value));
  }
}

}  // namespace

void resolve_offload(const Values& values, const EvidenceList& evidence, Job& job) {
  const std::string path = "offload";
  if (!values.stated(path)) return;
  Offload own;
  values.fill(path, own);
  override_parameter(own.core_Bps, "offload.core_rate", values, evidence);
  lay_in_chunks(values, own);
  check_uses(values, own, job);
  open_all(values, own);
  const bool open =
      own.optimizer == MemoryTier::automatic || own.activations == MemoryTier::automatic;
  if (own.any() || open) job.offload = std::make_shared<const Offload>(own);
}

void find_memory(Job& job) {
  if (leaves_memory_open(job)) job = with_memory_found(job);
}

std::vector<Note> found_memory(const Job& job) {
  const Offload& offload = offload_of(job);
  if (!offload.searched.any()) return {};
  std::string found = to_string(offload);
  if (found.empty()) found = "nothing to offload";
  if (!offload.searched.recompute) return {{"offload", "found " + found}};
  return {{"recompute, offload",
           fmt::format("auto found recompute: {}, and {}", to_string(job.recompute), found)}};
}

}  // namespace windtunnel
