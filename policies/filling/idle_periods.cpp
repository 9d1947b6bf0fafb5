#include "policies/filling/idle_periods.hpp"

#include <algorithm>
#include <map>

#include "models/results/memory_timeline.hpp"

namespace windtunnel {
namespace {

struct RankIdle {
  Span span;
  int iteration = 0;
};

// Returns the idle periods of a rank, by the task that ends before them.
std::map<TaskIndex, RankIdle> idle_of_rank(const RankClass& owner, const RankTimeline& rank,
                                           int stream, double until_s) {
  std::vector<TaskIndex> order;
  for (TaskIndex t = 0; t < std::ssize(owner.tasks); ++t) {
    if (owner.tasks[t].stream == stream) order.push_back(t);
  }
  std::ranges::stable_sort(order, {}, [&](TaskIndex t) { return rank.spans[t].start_s; });
  std::map<TaskIndex, RankIdle> idle;
  TaskIndex before = -1;
  double end_s = 0;
  for (const TaskIndex task : order) {
    idle[before] = {{end_s, rank.spans[task].start_s},
                    owner.tasks[before < 0 ? task : before].iteration};
    before = task;
    end_s = rank.spans[task].end_s;
  }
  if (before >= 0) idle[before] = {{end_s, until_s}, owner.tasks[before].iteration};
  return idle;
}

// Returns when collectives of the rank send and receive, ordered and disjoint. A collective with a
// known time counts only for that time, because before it the rank waits for others.
std::vector<Span> transfers_of(const RankClass& owner, const RankTimeline& rank) {
  std::vector<Span> spans;
  for (TaskIndex t = 0; t < std::ssize(owner.tasks); ++t) {
    const Task& task = owner.tasks[t];
    if (task.kind != TaskKind::collective || task.bytes <= 0) continue;
    Span span = rank.spans[t];
    if (!task.as_flows) {
      span.start_s = std::max(span.start_s, span.end_s - total_seconds(task.cost));
    }
    if (span.end_s > span.start_s) spans.push_back(span);
  }
  std::ranges::sort(spans, {}, &Span::start_s);
  std::vector<Span> apart;
  for (const Span& span : spans) {
    if (!apart.empty() && span.start_s <= apart.back().end_s) {
      apart.back().end_s = std::max(apart.back().end_s, span.end_s);
    } else {
      apart.push_back(span);
    }
  }
  return apart;
}

bool any_within(const std::vector<Span>& apart, const Span& period) {
  const auto first = std::ranges::upper_bound(apart, period.start_s, {}, &Span::end_s);
  return first != apart.end() && first->start_s < period.end_s;
}

// Only kernels allocate memory, so the memory in use does not change within a period.
double alive_at(const MemoryTimeline& memory, double at_s) {
  const auto later = std::ranges::upper_bound(memory.steps, at_s, {}, &MemoryStep::at_s);
  return later == memory.steps.begin() ? 0 : std::prev(later)->alive_bytes;
}

}  // namespace

std::vector<std::vector<IdlePeriod>> idle_periods(const Plan& plan, const Timeline& timeline,
                                                  int stream, double until_s, const PaceOf& pace) {
  struct Common {
    IdlePeriod period;
    double begin_s = 0;
    double ranks = 0;  // number of ranks that have the period
  };
  std::vector<std::map<TaskIndex, Common>> common(plan.classes.size());
  std::vector<double> ranks(plan.classes.size(), 0);
  for (const RankTimeline& rank : timeline.ranks) {
    const RankClass& owner = plan.classes[rank.rank_class];
    const std::vector<Span> transfers = transfers_of(owner, rank);
    const MemoryTimeline memory = memory_timeline(owner, rank);
    ranks[rank.rank_class] += rank.multiplicity;
    for (const auto& [behind, idle] : idle_of_rank(owner, rank, stream, until_s)) {
      const double seconds = std::max(0.0, idle.span.end_s - idle.span.start_s);
      const double least_s = seconds / pace(rank, idle.iteration);
      const auto [known, is_new] = common[rank.rank_class].try_emplace(behind);
      Common& at = known->second;
      IdlePeriod& period = at.period;
      if (is_new) {
        period = {.behind = behind, .iteration = idle.iteration, .least_s = least_s};
        at.begin_s = idle.span.start_s;
      }
      period.least_s = std::min(period.least_s, least_s);
      period.seconds += rank.multiplicity * seconds;
      at.ranks += rank.multiplicity;
      if (seconds <= 0) continue;
      period.alive_bytes = std::max(period.alive_bytes, alive_at(memory, idle.span.start_s));
      period.communicates = period.communicates || any_within(transfers, idle.span);
    }
  }
  std::vector<std::vector<IdlePeriod>> periods(plan.classes.size());
  for (std::size_t c = 0; c < common.size(); ++c) {
    std::vector<Common> ordered;
    for (auto& [behind, at] : common[c]) {
      at.period.seconds /= ranks[c];
      // If members run their kernels in different orders, the period may be empty on some.
      if (at.ranks < ranks[c]) at.period.least_s = 0;
      if (at.period.seconds > 0) ordered.push_back(at);
    }
    std::ranges::stable_sort(ordered, {}, &Common::begin_s);
    for (const Common& at : ordered) periods[c].push_back(at.period);
  }
  return periods;
}

}  // namespace windtunnel
