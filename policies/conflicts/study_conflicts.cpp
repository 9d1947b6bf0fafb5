// What stands beside a step: other work, loading of samples, engines, volunteers, fused jobs.
#include "policies/conflicts/features.hpp"

namespace windtunnel {
namespace features {
namespace {

constexpr Conflict kStudyRows[] = {
    {kTiles, kTensorRanks,
     ": tiles that are computed again would repeat the collectives of layout.tp, which is not "
     "modelled",
     "divide the sequence by layout.cp instead"},
    {kFilling, kTaskJitter,
     ": is fitted into what a profile shows, and kernels of which each has a factor of its own "
     "repeat none",
     "take cluster.jitter.per: step"},
    {kFilling, kRedundancy,
     ": redundancy makes up for stragglers in the idle time that other work would fill",
     "leave one of them out"},
    {kInput, kUnevenBatch,
     ": with batch.shares is not modelled, by which replicas have unlike numbers of samples",
     "leave one of them out"},
    {kRollout, kLayerTable, ": engines write tokens, and the model is a table of layers", ""},
    {kRollout, kNoCausalSoftmax,
     ": engines are modelled for causal transformers with softmax attention", ""},
    {kVolunteers, kLayerTable, ": goes with transformers, not with tables of layers", ""},
    {kVolunteers, kLengths, ": with batch.lengths is not modelled", "leave one out"},
    {kFusedJobs, kSeveralRanks, ": is of jobs of one GPU, and this one has {ranks}", ""},
    {kFusedJobs, kLengths,
     ": fused kernels compute shapes that are alike in all jobs, and packs (batch.lengths) are "
     "unlike",
     "leave one out"},
    {kFusedJobs, kUnsteady, ": jobs are fused on a GPU whose kernels take their usual time",
     "leave it out, or cluster.slow_nodes and cluster.jitter"},
};

constexpr Conflict kCampaignRows[] = {
    {kRelayout, kOutOfOrder, ": relayout goes with ranks in order", "take shrink or wait"},
    {kRelayout, kLengths,
     ": which ranks compute which sequences is decided for one layout, and relayout looks for "
     "others with sequences of one length",
     "take shrink or wait"},
};

}  // namespace
}  // namespace features

std::span<const Conflict> campaign_conflicts() {
  return features::kCampaignRows;
}

std::span<const Conflict> study_conflicts() {
  return features::kStudyRows;
}

}  // namespace windtunnel
