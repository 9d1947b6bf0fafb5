// The tiers beside a GPU's memory, that of its host and the node's drives: what of its training
// state Job::offload lays there and what the GPU needs in its place to work on it, and whether what
// a node's GPUs and snapshots lay there fits.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/cost/memory/memory.hpp"
#include "models/cost/offload/offload.hpp"

namespace windtunnel {

inline constexpr MemoryTier kTiersBesideGpu[] = {MemoryTier::host, MemoryTier::disk};

// Moves of `state`, the weights, gradients and optimizer state of `at` that may move (its
// activations are 0), what the job offloads, and adds the pieces of it that are on the GPU at once:
// of weights those of Offload::sections layers, of gradients those of two, and the vocabulary.
void move_to_tiers(const Job& job, const TierMemory& state, double parameters, GpuMemory& at);

// Of the optimizer state that belongs to the weights of a chunk (OffloadPlacement::chunks).
double optimizer_chunk_bytes(const Job& job);

// Of the node that holds most of it, what of the job lies in a tier: all its GPUs together.
// `memory`: [pipeline rank].
TierMemory tier_of_node(const Job& job, const std::vector<GpuMemory>& memory, MemoryTier tier);
// In bytes.
double tier_capacity(const NodeSpec& node, MemoryTier tier);

// Why what is laid into a tier of a node does not fit there, with what would remedy it; empty: it
// fits. `by_use`: name and bytes per node of what takes any: snapshots' tiers, what is offloaded
// (kOffloadUse). `pool`: name of the nodes' pool; empty: there is none.
inline constexpr const char* kOffloadUse = "offload";
std::string tier_excess(MemoryTier tier, const std::vector<std::pair<std::string, double>>& by_use,
                        const NodeSpec& node, const std::string& pool = {});

}  // namespace windtunnel
