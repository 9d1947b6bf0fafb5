#include "models/results/rank_parts.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "models/results/iteration_report.hpp"
#include "models/results/memory_timeline.hpp"

namespace windtunnel {
namespace {

// Whether a task does more than wait during its span. A receive counts as waiting, because the
// arrival of its message is not recorded.
bool occupies(const Task& task) {
  return task.kind != TaskKind::recv && task.category != Category::snapshot;
}

// Adds a task's time to the categories of its cost's parts, and what is left to its own category.
void add_seconds(const Task& task, double span_s, double seconds, RankParts& parts) {
  const double planned_s = total_seconds(task.cost);
  const double whole_s = std::max(span_s, planned_s);
  double rest_s = seconds;
  for (const CostPart& part : task.cost) {
    const double own_s = seconds * part.seconds / whole_s;
    parts.seconds[static_cast<int>(part.category)] += own_s;
    rest_s -= own_s;
  }
  parts.seconds[static_cast<int>(task.category)] += rest_s;
}

struct Moment {
  double at_s = 0;
  bool begins = false;
  TaskIndex task = 0;
};

std::vector<Moment> moments_of(const std::vector<Task>& tasks, const RankTimeline& rank,
                               const Span& window) {
  std::vector<Moment> moments;
  for (TaskIndex t = 0; t < std::ssize(tasks); ++t) {
    const double start_s = std::max(rank.spans[t].start_s, window.start_s);
    const double end_s = std::min(rank.spans[t].end_s, window.end_s);
    if (end_s <= start_s || !occupies(tasks[t])) continue;
    moments.push_back({start_s, true, t});
    moments.push_back({end_s, false, t});
  }
  std::ranges::stable_sort(moments, {}, &Moment::at_s);
  return moments;
}

RankParts parts_of(const RankClass& owner, const RankTimeline& rank, const Span& window) {
  RankParts parts;
  parts.rank = owner.name.empty() ? "rank " + std::to_string(rank.rank) : owner.name;
  std::set<std::pair<bool, TaskIndex>> running;  // kernels sort first
  double until_s = window.start_s;
  const auto advance = [&](double to_s) {
    const double seconds = to_s - until_s;
    until_s = to_s;
    if (running.empty()) {
      parts.bubble_s += seconds;
      return;
    }
    const TaskIndex first = running.begin()->second;
    const Span& span = rank.spans[first];
    add_seconds(owner.tasks[first], span.end_s - span.start_s, seconds, parts);
  };
  for (const Moment& moment : moments_of(owner.tasks, rank, window)) {
    advance(moment.at_s);
    const std::pair key(owner.tasks[moment.task].kind != TaskKind::compute, moment.task);
    if (moment.begins) {
      running.insert(key);
    } else {
      running.erase(key);
    }
  }
  advance(window.end_s);
  return parts;
}

}  // namespace

std::vector<RankParts> rank_parts(const Job& job, const Plan& plan, const Timeline& timeline) {
  std::vector<RankParts> all;
  if (timeline.ranks.empty()) return all;
  const SteadyWindow reported = reported_window(job, plan);
  const double periods = std::max(1, reported.last - reported.first);
  const Span window = reported_span(job, plan, timeline);
  for (const int entry : rank_of_each_class(plan, timeline)) {
    const RankTimeline& rank = timeline.ranks[entry];
    RankParts parts = parts_of(plan.classes[rank.rank_class], rank, window);
    for (double& seconds : parts.seconds) seconds /= periods;
    parts.bubble_s /= periods;
    all.push_back(std::move(parts));
  }
  return all;
}

}  // namespace windtunnel
