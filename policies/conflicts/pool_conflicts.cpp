// Unlike nodes (cluster.pools), and shares among them.
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr Conflict kPoolRows[] = {
    {kUnevenBatch, kAlike, ": all nodes are alike; it shares out among cluster.pools", ""},
    {kServed, kPools, ": servers beside cluster.pools are not modelled", ""},
    {kUnevenState, kAlike, ": all nodes are alike; it shares out among cluster.pools", ""},
    {kUnevenState, kUnsharded, ": layout.sharding is none, so every rank holds all",
     "take zero1, zero2 or zero3"},
    {kUnevenState, kIslands, ": the ranks of an island divide what they exchange evenly (sync)",
     ""},
    {kUnevenState, kSmallShards, ": copies of a shard, or of parts of it, must be of one size",
     "leave out what the layout says of shard_ranks, weight_ranks, gradient_ranks, "
     "secondary_ranks and bits"},
    {kUnevenState, kExperts,
     ": experts are divided among ranks of their own, and unequal shares of those are not modelled",
     ""},
    {kUnevenState, kCompressed, ": gradients that are compressed are scattered in equal parts",
     "leave out communication.compressor and compress with axis: dp"},
    {kUnevenState, kSplitOverPools, ": ranks of tp or cp that share a layer stand on several pools",
     "place whole replicas"},
    {kUnevenState, kCopiesOnOnePool,
     ": the ranks that share a copy of the state stand on one pool, all of them",
     "place replicas on several (layout.place.dp)"},
    {kSharesToFind, kMixesOfPools, ": auto knows one mix of pools, and the stages stand on several",
     "list the shares"},
    {kSharesToFind, kMemoryToFind,
     ": auto needs the memory of each rank, which recompute: auto and offload: auto leave open",
     "state one of them"},
    {kStagesToFind, kMemoryToFind,
     ": auto needs the time of each layer, which recompute: auto and offload: auto leave open",
     "state one of them"},
};

}  // namespace
}  // namespace features

std::span<const Conflict> pool_conflicts() {
  return features::kPoolRows;
}

}  // namespace windtunnel
