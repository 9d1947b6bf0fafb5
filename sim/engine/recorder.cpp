#include "sim/engine/recorder.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace windtunnel {

Recorder::Recorder(const Plan& plan, const Folding& folding, std::vector<RankId> recorded_by)
    : plan_(plan),
      folding_(folding),
      recorded_by_(std::move(recorded_by)),
      iteration_end_s_(plan.iterations, 0) {
  for (const FoldedRank& rank : folding.ranks) {
    const bool recorded = recorded_by_[rank.rank] == rank.rank;
    spans_.emplace_back(recorded ? plan.classes[rank.rank_class].tasks.size() : 0);
  }
}

void Recorder::end(std::int32_t rank, TaskIndex task, int iteration, double now_s) {
  if (!spans_[rank].empty()) spans_[rank][task].end_s = now_s;
  iteration_end_s_[iteration] = std::max(iteration_end_s_[iteration], now_s);
}

Timeline Recorder::take_timeline(std::uint64_t events) {
  Timeline timeline;
  std::vector<std::int32_t> record_of_rank(plan_.ranks, -1);
  for (std::size_t r = 0; r < folding_.ranks.size(); ++r) {
    const FoldedRank& rank = folding_.ranks[r];
    if (recorded_by_[rank.rank] != rank.rank) continue;
    record_of_rank[rank.rank] = static_cast<std::int32_t>(timeline.ranks.size());
    timeline.ranks.push_back({rank.rank, rank.rank_class, 0, std::move(spans_[r])});
  }
  for (const RankId by : recorded_by_) {
    timeline.recorded_as.push_back(record_of_rank[by]);
    timeline.ranks[record_of_rank[by]].multiplicity += 1;
  }
  timeline.makespan_s = *std::max_element(iteration_end_s_.begin(), iteration_end_s_.end());
  timeline.iteration_end_s = iteration_end_s_;
  timeline.events = events;
  timeline.ranks_simulated = std::ssize(folding_.ranks);
  timeline.sampled_of = folding_.sampled_of;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  timeline.peak_rss_bytes = 1024.0 * static_cast<double>(usage.ru_maxrss);
  return timeline;
}

}  // namespace windtunnel
