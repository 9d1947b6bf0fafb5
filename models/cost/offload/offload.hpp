// The part of a job's state that is kept outside GPU memory, in host memory or on the node's
// drives, and what the host's cores do with it (ZeRO-Offload: Ren et al. 2021, arXiv 2101.06840;
// ZeRO-Infinity: Rajbhandari et al. 2021, arXiv 2104.07857). Explained in docs/physics/offload.md.
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
  automatic,  // until policies/search/memory_search.hpp has found the cheapest
};
template <>
inline constexpr Choice<MemoryTier> kChoices<MemoryTier>[] = {{"gpu", MemoryTier::gpu},
                                                              {"host", MemoryTier::host},
                                                              {"disk", MemoryTier::disk},
                                                              {"auto", MemoryTier::automatic}};

// How the offloaded part is chosen: by the given shares, or as chunks of weights with their
// optimizer state that stay on the GPU as far as activations leave room
// (models/cost/offload/chunk_eviction.hpp).
enum class OffloadPlacement { shares, chunks };
template <>
inline constexpr Choice<OffloadPlacement> kChoices<OffloadPlacement>[] = {
    {"shares", OffloadPlacement::shares}, {"chunks", OffloadPlacement::chunks}};

// What happens to a layer's activations between forward and backward.
enum class ActivationRule : unsigned char { keep, swap, recompute };

struct Offload {
  // if not on the GPU, the host's cores run the optimizer step
  MemoryTier optimizer = MemoryTier::gpu;
  MemoryTier gradients = MemoryTier::gpu;
  MemoryTier weights = MemoryTier::gpu;
  MemoryTier activations = MemoryTier::gpu;
  // Share of a rank's optimizer state that is kept and updated in the tier `optimizer` (Twin-Flow
  // of ZeRO-Offload++); the GPU has the rest.
  double optimizer_share = 1;
  // Share of a stage's layers, counted from the first: the last layers' activations are needed
  // again soonest.
  double activation_share = 1;
  // Whether instead every layer offloads the same share, as large as the passes can hide. Then
  // activation_share is the result (the selective offload of ByteScale, arXiv 2502.21231).
  bool hidden = false;
  // Number of layers whose offloaded weights and activations have a buffer on the GPU. When one
  // layer has been used, its buffer is filled for the layer that many places ahead (the ring of
  // sections of SE-MoE, arXiv 2205.10034).
  int sections = 2;
  // Parts of a layer's weights that are fetched one after the other, so that two parts instead of
  // two layers must fit (memory-centric tiling: ZeRO-Infinity, section 5.1.3).
  int tiles = 1;
  // The update overlaps the next step, whose weights are then a step old (ZeRO-Offload, section
  // 5.2).
  bool delayed = false;
  double cores = 0;  // of the host, per GPU; 0: an equal share of the node's
  // Bytes that one core reads and writes per second in an Adam step, including cache traffic:
  // measured with one thread of GCC 12 -O3 on an AMD EPYC, 40 million parameters.
  Parameter core_Bps = {20e9, 8e9, 38e9, Origin::assumed,
                        "one AMD EPYC core alone reaches 38 GB/s; further busy cores slow it down"};
  // [layer] The rules for a table of layers; empty: all keep their activations. Layers may
  // recompute even if nothing is offloaded.
  std::vector<ActivationRule> layers;

  OffloadPlacement placement = OffloadPlacement::shares;
  double chunk_bytes = 0;  // weights per chunk; 0: the size with the least waste
  // OffloadPlacement::chunks: results of the warm-up iteration, for pipeline rank 0, the only one.
  struct Chunks {
    double bytes = 0;  // per chunk
    int count = 0;     // per GPU; 0: no result yet
    int at_once = 0;   // most chunks in use at a time, for a layer and the next
    // GPU memory for chunks and optimizer state while all activations are alive, and the additional
    // room when none is.
    double room_bytes = 0;
    double activation_bytes = 0;
    // number of chunks, from the first, whose optimizer state also stays on the GPU
    int with_optimizer = 0;
    bool operator==(const Chunks&) const = default;
  };
  Chunks chunks = {};

  // Which parts were found by a search, which can find them again for a changed job.
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

// Job::offload if there is one; otherwise the default, in which nothing is offloaded.
const Offload& offload_of(const Job& job);

// "optimizer on disk, gradients in host memory, activations of 50 % of the layers in host memory";
// empty: nothing is offloaded.
std::string to_string(const Offload& offload);

// [layer of a stage] Share of its activations that leaves the GPU: all of those of the first
// layers and a part of the next, or the same share of every layer but the last, whose activations
// are needed at once (Offload::hidden).
std::vector<double> offloaded_shares(const Offload& offload, int layers);

}  // namespace windtunnel
