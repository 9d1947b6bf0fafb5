#include "policies/shares/share_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>

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
          stated
              ? "the sequences of an iteration are shared out as stated, as nearly as they divide"
              : "the sequences of an iteration are shared out so that unlike replicas end "
                "together",
          shares};
}

}  // namespace

std::vector<Note> share_notes(const Job& job, std::span<const ReplicaKind> kinds) {
  std::vector<Note> notes;
  if (job.layout.balance == StageBalance::automatic) {
    notes.push_back({"layout.stages",
                     "the layers of the stages follow from what each pipeline rank computes in "
                     "the same time",
                     fmt::format("{}", fmt::join(job.layout.stage_layers, ", "))});
  }
  if (job.batch.shares != BatchShares::even) notes.push_back(share_note(job, kinds));
  return notes;
}

}  // namespace windtunnel
