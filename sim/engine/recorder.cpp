#include "sim/engine/recorder.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace windtunnel {

Recorder::Recorder(const Plan& plan, const Folding& folding, bool every_rank)
    : plan_(plan), folding_(folding), iteration_end_s_(plan.iterations, 0) {
  std::vector<char> has_record(plan.classes.size(), 0);
  std::int64_t spans = 0;
  for (const FoldedRank& rank : folding.ranks) {
    const bool recorded = every_rank || !has_record[rank.rank_class];
    first_span_.push_back(recorded ? spans : -1);
    if (recorded) spans += std::ssize(plan.classes[rank.rank_class].tasks);
    has_record[rank.rank_class] = 1;
  }
  spans_.resize(spans);
}

void Recorder::end(std::int32_t rank, TaskIndex task, int iteration, double now_s) {
  if (first_span_[rank] >= 0) spans_[first_span_[rank] + task].end_s = now_s;
  iteration_end_s_[iteration] = std::max(iteration_end_s_[iteration], now_s);
}

Timeline Recorder::timeline(std::uint64_t events) const {
  Timeline timeline;
  std::vector<std::int32_t> record_of_class(plan_.classes.size(), -1);
  std::vector<std::int32_t> record_of_rank(folding_.ranks.size(), -1);
  for (std::size_t r = 0; r < folding_.ranks.size(); ++r) {
    if (first_span_[r] < 0) continue;
    const FoldedRank& rank = folding_.ranks[r];
    const auto begin = spans_.begin() + first_span_[r];
    const auto end = begin + std::ssize(plan_.classes[rank.rank_class].tasks);
    record_of_rank[r] = static_cast<std::int32_t>(timeline.ranks.size());
    std::int32_t& of_class = record_of_class[rank.rank_class];
    if (of_class < 0) of_class = record_of_rank[r];
    timeline.ranks.push_back({rank.rank, rank.rank_class, 0, {begin, end}});
  }
  for (std::int32_t representative : folding_.representative) {
    std::int32_t record = record_of_rank[representative];
    if (record < 0) record = record_of_class[folding_.ranks[representative].rank_class];
    timeline.recorded_as.push_back(record);
    timeline.ranks[record].multiplicity += 1;
  }
  timeline.makespan_s = *std::max_element(iteration_end_s_.begin(), iteration_end_s_.end());
  timeline.iteration_end_s = iteration_end_s_;
  timeline.events = events;
  timeline.ranks_simulated = std::ssize(folding_.ranks);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  timeline.peak_rss_bytes = 1024.0 * static_cast<double>(usage.ru_maxrss);
  return timeline;
}

}  // namespace windtunnel
