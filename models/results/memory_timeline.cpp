#include "models/results/memory_timeline.hpp"

#include <algorithm>
#include <iterator>

namespace windtunnel {
namespace {

struct Change {
  double at_s = 0;
  bool allocates = false;
  double bytes = 0;
  TaskIndex task = -1;
};

std::vector<Change> changes_of(const RankClass& rank_class, const RankTimeline& rank,
                               MemoryPlace place) {
  const bool gpu = place == MemoryPlace::gpu;
  std::vector<Change> changes;
  for (TaskIndex t = 0; t < std::ssize(rank_class.tasks); ++t) {
    const Task& task = rank_class.tasks[t];
    const Span& span = rank.spans[t];
    const double allocated = gpu ? task.allocate_bytes : task.tier_allocate_bytes;
    const double freed = gpu ? task.free_bytes : task.tier_free_bytes;
    if (allocated != 0) changes.push_back({span.start_s, true, allocated, t});
    if (freed != 0) changes.push_back({span.end_s, false, -freed, t});
  }
  std::ranges::stable_sort(changes, [](const Change& a, const Change& b) {
    return a.at_s != b.at_s ? a.at_s < b.at_s : !a.allocates && b.allocates;
  });
  return changes;
}

}  // namespace

MemoryTimeline memory_timeline(const RankClass& rank_class, const RankTimeline& rank, double from_s,
                               MemoryPlace place) {
  // When a sum of thousands of terms returns to its peak, the last digit may differ. The tolerance
  // keeps the first time of the peak.
  constexpr double kRounding = 1e-9;
  MemoryTimeline timeline;
  double alive_bytes = 0;
  for (const Change& change : changes_of(rank_class, rank, place)) {
    alive_bytes += change.bytes;
    const bool counts = change.allocates && change.at_s >= from_s;
    if (counts && alive_bytes > timeline.peak_bytes * (1 + kRounding)) {
      timeline.peak_bytes = alive_bytes;
      timeline.peak_at_s = change.at_s;
      timeline.peak_task = change.task;
    }
    if (!timeline.steps.empty() && timeline.steps.back().at_s == change.at_s) {
      timeline.steps.back().alive_bytes = alive_bytes;
    } else {
      timeline.steps.push_back({change.at_s, alive_bytes});
    }
  }
  return timeline;
}

std::vector<int> rank_of_each_class(const Plan& plan, const Timeline& timeline) {
  std::vector<bool> seen(plan.classes.size(), false);
  std::vector<int> entries;
  for (std::size_t i = 0; i < timeline.ranks.size(); ++i) {
    const auto rank_class = static_cast<std::size_t>(timeline.ranks[i].rank_class);
    if (seen[rank_class]) continue;
    seen[rank_class] = true;
    entries.push_back(static_cast<int>(i));
  }
  return entries;
}

std::vector<ActivationPeak> activation_peaks(const Plan& plan, const Timeline& timeline) {
  std::vector<ActivationPeak> peaks;
  for (const int entry : rank_of_each_class(plan, timeline)) {
    const RankTimeline& rank = timeline.ranks[entry];
    const RankClass& rank_class = plan.classes[rank.rank_class];
    const MemoryTimeline memory = memory_timeline(rank_class, rank);
    if (memory.peak_task < 0) continue;
    peaks.push_back({rank_class.name, rank_class.tasks[memory.peak_task].name, memory.peak_at_s,
                     memory.peak_bytes});
  }
  return peaks;
}

}  // namespace windtunnel
