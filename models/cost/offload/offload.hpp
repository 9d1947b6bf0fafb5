// What of a job lies beside its GPUs' memory, in that of the host or on the node's drives, and what
// the host's cores do with it (ZeRO-Offload: Ren et al. 2021, arXiv 2101.06840; ZeRO-Infinity:
// Rajbhandari et al. 2021, arXiv 2104.07857). In words: docs/offload.md.
#pragma once

#include <string>
#include <vector>

#include "models/base/choice.hpp"
#include "models/base/origin.hpp"

namespace windtunnel {

struct Job;

enum class MemoryTier {
  gpu,
  host,
  disk,
  automatic,  // until policies/search/memory_search.hpp has found what costs least
};
template <>
inline constexpr Choice<MemoryTier> kChoices<MemoryTier>[] = {{"gpu", MemoryTier::gpu},
                                                              {"host", MemoryTier::host},
                                                              {"disk", MemoryTier::disk},
                                                              {"auto", MemoryTier::automatic}};

// What becomes of a layer's activations between forward and backward.
enum class ActivationRule : unsigned char { keep, swap, recompute };

struct Offload {
  MemoryTier optimizer = MemoryTier::gpu;  // beside the GPU: the host's cores take the step
  MemoryTier gradients = MemoryTier::gpu;
  MemoryTier weights = MemoryTier::gpu;
  MemoryTier activations = MemoryTier::gpu;
  // Of a rank's optimizer state, the share that lies there and is updated there (Twin-Flow of
  // ZeRO-Offload++); the GPU has the rest.
  double optimizer_share = 1;
  // Of a stage's layers, from the first on: those of the last ones are needed again soonest.
  double activation_share = 1;
  // The update runs beside the next step, whose weights are a step old (ZeRO-Offload, section 5.2).
  bool delayed = false;
  double cores = 0;  // of the host, per GPU; 0: an equal share of the node's
  // What one core reads and writes in an Adam step from its caches' point of view: measured with
  // one thread of GCC 12 -O3 on an AMD EPYC, 40 million parameters.
  Parameter core_Bps = {20e9, 8e9, 38e9, Origin::assumed,
                        "one AMD EPYC core alone reaches 38 GB/s; others beside it slow it down"};
  // Of a table of layers, [layer]; empty: all keep theirs. Some may be computed again although
  // nothing is offloaded.
  std::vector<ActivationRule> layers;

  // What a search has found, and can find again for a job that changes.
  struct Parts {
    bool recompute = false;
    bool state = false;
    bool activations = false;
    bool any() const { return recompute || state || activations; }
  };
  Parts searched = {};

  bool any() const {
    return optimizer != MemoryTier::gpu || gradients != MemoryTier::gpu ||
           weights != MemoryTier::gpu || activations != MemoryTier::gpu;
  }
  bool updates_on_host() const { return optimizer != MemoryTier::gpu; }
};

// Of a job without Job::offload: nothing lies elsewhere.
const Offload& offload_of(const Job& job);

// "optimizer on disk, gradients in host memory, activations of 50 % of the layers in host memory";
// empty: nothing is offloaded.
std::string to_string(const Offload& offload);

// Of the layers of a stage, those whose activations leave the GPU: the first ones.
int offloaded_layers(const Offload& offload, int layers);

}  // namespace windtunnel
