#include "policies/shares/share_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>

#include "models/plan/state_shares.hpp"

namespace windtunnel {
namespace {

std::string pools_text(const Job& job, const ReplicaKind& kind) {
  std::set<int> pools(kind.pools.begin(), kind.pools.end());
  std::string text;
  for (const int pool : pools) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", job.cluster.pools[pool].name);
  }
  return text;
}

Note share_note(const Job& job, std::span<const ReplicaKind> kinds) {
  std::string shares;
  for (const ReplicaKind& kind : kinds) {
    shares +=
        fmt::format("{}{} replica{} on {} with {} micro-batch{} of {}", shares.empty() ? "" : "; ",
                    kind.replicas, kind.replicas == 1 ? "" : "s", pools_text(job, kind),
                    kind.microbatches, kind.microbatches == 1 ? "" : "es", kind.micro);
  }
  const bool stated = job.batch.shares == BatchShares::stated;
  return {"batch.shares",
          stated ? "the sequences of an iteration are divided by batch.shares, as closely as whole "
                   "micro-batches (with zero2 or zero3 whole sequences) allow"
                 : "the sequences of an iteration are divided so that replicas of different speed "
                   "end together",
          shares};
}

// Notes how state is divided on the first stage with ranks on several pools.
Note state_note(const Job& job) {
  std::string factors;
  for (int pp = 0; pp < job.layout.pp && factors.empty(); ++pp) {
    const std::vector<int> ranks = ranks_by_pool(job, pp);
    if (std::ranges::count(ranks, 0) + 1 == std::ssize(ranks)) continue;
    for (int pool = 0; pool < std::ssize(ranks); ++pool) {
      if (ranks[pool] == 0) continue;
      factors += fmt::format("{}{} {:.3g}", factors.empty() ? "" : ", ",
                             job.cluster.pools[pool].name, state_factor(job, pp, pool));
    }
  }
  return {
      "layout.shard_shares",
      "the training state is divided unevenly; a rank of each pool holds this multiple of the mean",
      factors};
}

}  // namespace

std::vector<Note> share_notes(const Job& job, std::span<const ReplicaKind> kinds) {
  std::vector<Note> notes;
  if (job.layout.balance == StageBalance::automatic) {
    notes.push_back(
        {"layout.stages",
         "layers are divided among the stages so that all pipeline ranks take the same time",
         fmt::format("{}", fmt::join(job.layout.stage_layers, ", "))});
  }
  if (uneven_state(job)) notes.push_back(state_note(job));
  if (job.batch.shares != BatchShares::even) notes.push_back(share_note(job, kinds));
  return notes;
}

}  // namespace windtunnel
