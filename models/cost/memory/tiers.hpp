// Memory tiers outside the GPU, host memory and the node's drives: which training state
// Job::offload moves there, what the GPU needs instead to work on it, and whether the data of a
// node's GPUs and snapshots fits.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/cost/memory/memory.hpp"
#include "models/cost/offload/offload.hpp"

namespace windtunnel {

inline constexpr MemoryTier kTiersBesideGpu[] = {MemoryTier::host, MemoryTier::disk};

// Moves the offloaded part of `state` to its tier; `state` has the movable weights, gradients and
// optimizer state of `at` (without activations). Adds the pieces that are on the GPU at a time:
// weights of Offload::sections layers, gradients of two layers, and the vocabulary.
void move_to_tiers(const Job& job, const TierMemory& state, double parameters, GpuMemory& at);

// Bytes of optimizer state for the weights of a chunk (OffloadPlacement::chunks).
double optimizer_chunk_bytes(const Job& job);

// The job's data in a tier of the node that holds most of it, over all its GPUs. `memory`:
// [pipeline rank].
TierMemory tier_of_node(const Job& job, const std::vector<GpuMemory>& memory, MemoryTier tier);
// Capacity in bytes.
double tier_capacity(const NodeSpec& node, MemoryTier tier);

// Why data does not fit in a node's tier, with a remedy; empty: it fits. `by_use`: name and bytes
// per node of everything that uses the tier: snapshot tiers, offloaded data (kOffloadUse). `pool`:
// name of the nodes' pool; empty: no pools.
inline constexpr const char* kOffloadUse = "offload";
std::string tier_excess(MemoryTier tier, const std::vector<std::pair<std::string, double>>& by_use,
                        const NodeSpec& node, const std::string& pool = {});

}  // namespace windtunnel
