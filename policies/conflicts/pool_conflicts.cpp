// Conflicts of unlike nodes (cluster.pools), and of the shares that they get.
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr Conflict kPoolRows[] = {
    {kUnevenBatch, kAlike, ": all nodes are alike; uneven shares are for cluster.pools", ""},
    {kServed, kPools, ": parameter servers are not modelled with cluster.pools", ""},
    {kUnevenState, kAlike, ": all nodes are alike; uneven shares are for cluster.pools", ""},
    {kUnevenState, kUnsharded, ": layout.sharding is none, so every rank holds the whole state",
     "take zero1, zero2 or zero3"},
    {kUnevenState, kIslands, ": with sync the ranks of an island divide evenly what they exchange",
     ""},
    {kUnevenState, kSmallShards, ": copies of a shard, or of its parts, must have the same size",
     "leave shard_ranks, weight_ranks, gradient_ranks, secondary_ranks and the keys for bits out "
     "of layout"},
    {kUnevenState, kExperts, ": unequal shares of experts are not modelled", ""},
    {kUnevenState, kCompressed, ": compressed gradients are scattered in equal parts",
     "leave out communication.compressor and compress with axis: dp"},
    {kUnevenState, kSplitOverPools,
     ": ranks of tp or cp that divide one layer are on several pools",
     "place each replica as a whole on one pool"},
    {kUnevenState, kCopiesOnOnePool,
     ": the ranks that share a copy of the state are all on the same pool",
     "place replicas on several pools (layout.place.dp)"},
    {kSharesToFind, kMixesOfPools,
     ": auto supports stages on one mix of pools only, and here they are on several",
     "list the shares"},
    {kSharesToFind, kMemoryToFind,
     ": auto needs the memory of each rank, which is unknown with recompute: auto or offload: auto",
     "give a value for one of them"},
    {kStagesToFind, kMemoryToFind,
     ": auto needs the time of each layer, which is unknown with recompute: auto or offload: auto",
     "give a value for one of them"},
};

}  // namespace
}  // namespace features

std::span<const Conflict> pool_conflicts() {
  return features::kPoolRows;
}

}  // namespace windtunnel
