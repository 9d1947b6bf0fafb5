// Sequences of unequal length (batch.lengths): packs that go forward and backward one by one.
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr Conflict kLengthRows[] = {
    {kLengths, kLayerTable, ": model '{model}' has samples, not sequences", "leave it out"},
    {kLengths, kExpertsOrPattern,
     ": unequal packs of experts or of a pattern's layers are not modelled", ""},
    {kLengths, kNoCausalFlash,
     ": sequences stand behind each other in a pack, which needs the causal attention of "
     "model.attention: flash",
     ""},
    {kPipeline, kLengths,
     "is {pp}, but packs of unequal sequences (batch.lengths) are not modelled in a pipeline",
     "set layout.pp: 1"},
    {kOtherSchedule, kLengths,
     ": packs of unequal sequences (batch.lengths) go forward and backward one by one",
     "leave it at 1f1b"},
    {kInnerTasks, kLengths,
     "tasks does not go with batch.lengths, whose packs hold their collectives as seconds",
     "take auto or folded"},
    {kDispatch, kLengths,
     "does not go with batch.lengths, whose packs are no programs of all ranks", ""},
    {kTwoD, kLengths, "2d does not go with batch.lengths", "take 1d"},
    {kSegments, kLengths, "cuts micro-batches into segments, batch.lengths has packs",
     "take pipelined, fused or ladder"},
    {kOneDegree, kLengthGroups,
     "{context} has one degree; groups of different degrees (layout.length_policy) take ring, "
     "ulysses, burst or token-ring",
     ""},
    {kHdp, kZero2,
     "hdp lets ranks make unequal numbers of passes, each of which would gather and reduce with "
     "all others under zero2 and zero3",
     "take layout.sharding: zero1"},
};

}  // namespace
}  // namespace features

std::span<const Conflict> length_conflicts() {
  return features::kLengthRows;
}

}  // namespace windtunnel
