// What of a job lies beside its GPUs' memory, in that of the host or on the node's drives, and what
// the host's cores do with it (ZeRO-Offload: Ren et al. 2021, arXiv 2101.06840; ZeRO-Infinity:
// Rajbhandari et al. 2021, arXiv 2104.07857). In words: docs/physics/offload.md.
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

// How what lies beside the GPU is chosen: by the shares that are stated, or in chunks of weights,
// with the optimizer state that belongs to them, that stay on the GPU as far as activations leave
// room (models/cost/offload/chunk_eviction.hpp).
enum class OffloadPlacement { shares, chunks };
template <>
inline constexpr Choice<OffloadPlacement> kChoices<OffloadPlacement>[] = {
    {"shares", OffloadPlacement::shares}, {"chunks", OffloadPlacement::chunks}};

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
  // As much of every layer's as hides behind the passes, which the share then says (the selective
  // offload of ByteScale, arXiv 2502.21231).
  bool hidden = false;
  // Layers whose weights and activations from beside the GPU have a place there at once: the next
  // but so many comes when one has been used (the ring of sections of SE-MoE, arXiv 2205.10034).
  int sections = 2;
  // Parts of a layer's weights that are there one after another, so that two of them and not two
  // layers have to fit (memory-centric tiling: ZeRO-Infinity, section 5.1.3).
  int tiles = 1;
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

  OffloadPlacement placement = OffloadPlacement::shares;
  double chunk_bytes = 0;  // of a chunk's weights; 0: the size that is filled best
  // Of OffloadPlacement::chunks, what a warm-up iteration has found; [pipeline rank] is 0 alone.
  struct Chunks {
    double bytes = 0;  // of one
    int count = 0;     // of a GPU; 0: nothing is found yet
    int at_once = 0;   // at most, that a layer and the next need
    // Of the GPU's memory, for chunks and optimizer state while all activations live, and what
    // those give free until none does.
    double room_bytes = 0;
    double activation_bytes = 0;
    int with_optimizer = 0;  // whose optimizer state stays on the GPU, too: the first ones
    bool operator==(const Chunks&) const = default;
  };
  Chunks chunks = {};

  // What a search has found, and can find again for a job that changes.
  struct Parts {
    bool recompute = false;
    bool state = false;
    bool activations = false;
    bool chunks = false;
    bool hidden = false;
    bool any() const { return recompute || state || activations || chunks || hidden; }
  };
  Parts searched = {};

  bool any() const {
    return optimizer != MemoryTier::gpu || gradients != MemoryTier::gpu ||
           weights != MemoryTier::gpu || activations != MemoryTier::gpu;
  }
  bool updates_on_host() const { return optimizer != MemoryTier::gpu; }
  bool in_chunks() const { return placement == OffloadPlacement::chunks; }
};

// Of a job without Job::offload: nothing lies elsewhere.
const Offload& offload_of(const Job& job);

// "optimizer on disk, gradients in host memory, activations of 50 % of the layers in host memory";
// empty: nothing is offloaded.
std::string to_string(const Offload& offload);

// [layer of a stage] Of its activations the share that leaves the GPU: all of those of the first
// layers, or as much of each but the last, whose are needed at once (Offload::hidden).
std::vector<double> offloaded_shares(const Offload& offload, int layers);

}  // namespace windtunnel
