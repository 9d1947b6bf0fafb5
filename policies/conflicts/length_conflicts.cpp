// Conflicts of unequal sequences (batch.lengths), whose packs go forward and backward one by one.
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr Conflict kLengthRows[] = {
    {kLengths, kLayerTable, ": model '{model}' has samples, not sequences", "leave it out"},
    {kLengths, kLayerPattern,
     ": the cost of a pack assumes the same attention in every layer, but the layers of a pattern "
     "differ",
     ""},
    {kLengths, kPredictors,
     ": the cost of a pack assumes identical layers, but model.mtp_layers have losses of their own",
     ""},
    {kLengths, kTower,
     ": packs are costed by layers that are alike, and model.tower has others in front of them",
     "set model.tower.sources to 0"},
    {kLengths, kChosenKeys,
     ": a pack joins several sequences, but model.sparse chooses keys of a single sequence", ""},
    {kLengths, kNoCausalFlash,
     ": a pack joins several sequences, which needs causal attention with model.attention: flash",
     ""},
    {kTimedSchedule, kLengths,
     ": schedules made for equal micro-batches, with two directions or with a share of "
     "recomputation do not support packs of unequal sequences (batch.lengths)",
     "take {pack_schedules}"},
    {kInnerTasks, kLengths,
     "tasks does not go with batch.lengths, because a pack contains its collectives only as a "
     "duration",
     "take auto or folded"},
    {kDispatch, kLengths,
     "does not go with batch.lengths, because ranks with different packs do not run the same "
     "program",
     ""},
    {kUnevenBatch, kLengths,
     ": divides micro-batches of one length among replicas; with batch.lengths, "
     "layout.length_policy decides which ranks compute which sequences",
     "leave it out"},
    {kTwoD, kLengths,
     "2d gives the ranks of a mesh whole sequences, but with batch.lengths groups of ranks divide "
     "sequences",
     "take 1d"},
    {kSegments, kLengths, "cuts micro-batches into segments, but batch.lengths makes packs",
     "take pipelined, fused or ladder"},
    {kOneDegree, kLengthGroups,
     "{context} does not support groups of different degrees (layout.length_policy); take ring, "
     "ulysses, burst or token-ring",
     ""},
};

}  // namespace
}  // namespace features

std::span<const Conflict> length_conflicts() {
  return features::kLengthRows;
}

}  // namespace windtunnel
