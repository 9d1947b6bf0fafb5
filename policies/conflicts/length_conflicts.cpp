// Sequences of unequal length (batch.lengths): packs that go forward and backward one by one.
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr Conflict kLengthRows[] = {
    {kLengths, kLayerTable, ": model '{model}' has samples, not sequences", "leave it out"},
    {kLengths, kLayerPattern,
     ": packs are costed by the attention of their sequences, alike in every layer, and a "
     "pattern's layers differ",
     ""},
    {kLengths, kPredictors,
     ": packs are costed by layers that are alike, and model.mtp_layers are further ones with "
     "losses of their own",
     ""},
    {kLengths, kTower,
     ": packs are costed by layers that are alike, and model.tower has others in front of them",
     "set model.tower.sources to 0"},
    {kLengths, kChosenKeys,
     ": sequences stand behind each other in a pack, and model.sparse chooses keys of one sequence",
     ""},
    {kLengths, kNoCausalFlash,
     ": sequences stand behind each other in a pack, which needs the causal attention of "
     "model.attention: flash",
     ""},
    {kTimedSchedule, kLengths,
     ": orders that are made for equal micro-batches, run two pipelines or recompute by share do "
     "not hold for packs of unequal sequences (batch.lengths)",
     "take {pack_schedules}"},
    {kInnerTasks, kLengths,
     "tasks does not go with batch.lengths, whose packs hold their collectives as seconds",
     "take auto or folded"},
    {kDispatch, kLengths,
     "does not go with batch.lengths, whose packs are no programs of all ranks", ""},
    {kUnevenBatch, kLengths,
     ": shares out micro-batches of one length; with batch.lengths, layout.length_policy says "
     "which ranks compute which sequences",
     "leave it out"},
    {kTwoD, kLengths,
     "2d gives the ranks of a mesh whole sequences, and groups for batch.lengths divide them",
     "take 1d"},
    {kSegments, kLengths, "cuts micro-batches into segments, batch.lengths has packs",
     "take pipelined, fused or ladder"},
    {kOneDegree, kLengthGroups,
     "{context} has one degree; groups of different degrees (layout.length_policy) take ring, "
     "ulysses, burst or token-ring",
     ""},
};

}  // namespace
}  // namespace features

std::span<const Conflict> length_conflicts() {
  return features::kLengthRows;
}

}  // namespace windtunnel
