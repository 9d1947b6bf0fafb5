// Features that a generated schedule cannot be combined with.
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr std::string_view kGatheredByZero3 =
    "needs a schedule that leaves gathers and reductions to ZeRO-3; '{schedule}' places gathers "
    "and reductions of stages itself";
constexpr std::string_view kNothingSent =
    ": schedule '{schedule}' has stages {stage_before} and {stage} on one pipeline rank, where "
    "nothing is sent";
constexpr std::string_view kSendingSchedules =
    "take a schedule with neighbouring stages on different ranks, such as 1f1b or interleaved-1f1b";

constexpr Conflict kScheduleRows[] = {
    {kPlacedRecompute, kNoRecompute,
     "'{schedule}' chooses when to recompute, but nothing is recomputed",
     "set recompute: full or selective"},
    {kRecomputeShare, kNoRecompute, "divides a recomputation, but nothing is recomputed",
     "set recompute: full or selective"},
    {kZero3, kWeightVersions,
     ": zero3 does not go with schedule '{schedule}', which keeps a version of the weights for "
     "each micro-batch under way; old versions cannot be gathered",
     "take zero2, or a schedule that flushes"},
    {kWeightRanks, kOwnGathers, kGatheredByZero3, ""},
    {kLevelsOfGradients, kOwnGathers, kGatheredByZero3, ""},
    {kActivationsMove, kPlacedRecompute,
     "needs a schedule that recomputes within backward passes; '{schedule}' recomputes in separate "
     "actions",
     ""},
    {kWeightsMove, kOwnGathers, kGatheredByZero3, ""},
    {kGradientsMove, kOwnGathers, kGatheredByZero3, ""},
    {kCutSequences, kFrames,
     ": schedule '{schedule}' cuts sequences into {slices} slices, but attention over frames "
     "(model.frames {frames}) has no causal mask",
     ""},
    {kCutSequences, kUnmasked,
     ": schedule '{schedule}' cuts sequences into {slices} slices, but bidirectional attention has "
     "no causal mask",
     ""},
    {kCutSequences, kTwoStacks,
     ": schedule '{schedule}' cuts sequences into {slices} slices, but each slice of the decoder "
     "reads the whole source",
     ""},
    {kCutSequences, kTower,
     ": schedule '{schedule}' cuts sequences into {slices} slices, and only some of these contain "
     "the images of model.tower",
     "set model.tower.sources to 0"},
    {kCompressedMessages, kNeighboursTogether,
     ": axis pp: schedule '{schedule}' has stages {stage_before} and {stage} on one pipeline "
     "rank, where nothing is sent",
     kSendingSchedules},
    {kScatteredSends, kNeighboursTogether, kNothingSent, kSendingSchedules},
    {kBoundaryRank, kNeighboursTogether, kNothingSent, kSendingSchedules},
};

}  // namespace
}  // namespace features

std::span<const Conflict> schedule_conflicts() {
  return features::kScheduleRows;
}

}  // namespace windtunnel
