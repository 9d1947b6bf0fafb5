// Features that a generated schedule cannot be combined with.
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr std::string_view kGatheredByZero3 =
    "goes with schedules that leave gathers and reductions to ZeRO-3; '{schedule}' says itself "
    "when stages are gathered or reduced";
constexpr std::string_view kNothingSent =
    ": schedule '{schedule}' has stages {stage_before} and {stage} on one pipeline rank, where "
    "nothing is sent";
constexpr std::string_view kSendingSchedules =
    "take one whose neighbours are on different ranks, as 1f1b or interleaved-1f1b";

constexpr Conflict kScheduleRows[] = {
    {kPlacedRecompute, kNoRecompute,
     "'{schedule}' is about when to recompute, but nothing is recomputed",
     "set recompute: full or selective"},
    {kRecomputeShare, kNoRecompute, "divides a recomputation, but nothing is recomputed",
     "set recompute: full or selective"},
    {kZero3, kWeightVersions,
     ": zero3 does not go with schedule '{schedule}', which keeps a version of the weights for "
     "each micro-batch under way: no rank gathers old versions",
     "take zero2, or a schedule that flushes"},
    {kWeightRanks, kOwnGathers, kGatheredByZero3, ""},
    {kLevelsOfGradients, kOwnGathers, kGatheredByZero3, ""},
    {kActivationsMove, kPlacedRecompute,
     "goes with schedules whose backward passes recompute; '{schedule}' recomputes in actions of "
     "its own",
     ""},
    {kWeightsMove, kOwnGathers, kGatheredByZero3, ""},
    {kGradientsMove, kOwnGathers, kGatheredByZero3, ""},
    {kCutSequences, kFrames,
     ": schedule '{schedule}' cuts sequences into {slices} slices, but layers of a model with "
     "frames (model.frames {frames}) attend without a mask",
     ""},
    {kCutSequences, kUnmasked,
     ": schedule '{schedule}' cuts sequences into {slices} slices, but layers of a model that is "
     "bidirectional attend without a mask",
     ""},
    {kCutSequences, kTwoStacks,
     ": schedule '{schedule}' cuts sequences into {slices} slices, and each slice of the decoder "
     "reads the whole source",
     ""},
    {kCutSequences, kTower,
     ": schedule '{schedule}' cuts sequences into {slices} slices, and the images of model.tower "
     "stand in some of them only",
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
