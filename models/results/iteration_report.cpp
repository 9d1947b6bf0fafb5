#include "models/results/iteration_report.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "models/base/error.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/cost/op/op_cost.hpp"

namespace windtunnel {
namespace {

// Walks back from a task to the predecessor that ended last, across ranks.
class PathFinder {
 public:
  PathFinder(const Plan& plan, const Timeline& timeline)
      : plan_(plan),
        timeline_(timeline),
        of_rank_(class_of_rank(plan)),
        partner_(match_messages(plan)),
        rendezvous_(rendezvous_of(plan)),
        before_on_stream_(timeline.ranks.size()) {
    for (std::int32_t c = 0; c < std::ssize(plan.classes); ++c) index_collectives(c);
  }

  std::vector<PathStep> walk(std::int32_t recorded, TaskIndex task) {
    std::vector<PathStep> path;
    for (std::pair<std::int32_t, TaskIndex> at{recorded, task}; at.first >= 0;
         at = latest_before(at.first, at.second)) {
      const RankTimeline& rank = timeline_.ranks[at.first];
      const Span& span = rank.spans[at.second];
      path.push_back({rank.rank, rank.rank_class, at.second, span.start_s, span.end_s});
    }
    std::ranges::reverse(path);
    // The wait of a member at a collective is not on the path, and neither is the idle time of a
    // receive that was posted early.
    double end_s = 0;
    for (PathStep& step : path) {
      step.start_s = std::max(step.start_s, end_s);
      end_s = step.end_s;
    }
    return path;
  }

 private:
  using Place = std::pair<std::int32_t, TaskIndex>;  // recorded rank, task

  void index_collectives(std::int32_t c) {
    const RankClass& owner = plan_.classes[c];
    for (TaskIndex t = 0; t < std::ssize(owner.tasks); ++t) {
      if (owner.tasks[t].kind != TaskKind::collective) continue;
      collectives_[{c, rendezvous_[c][owner.tasks[t].group_slot], owner.tasks[t].sequence}] = t;
    }
  }

  const Span& span(const Place& at) const { return timeline_.ranks[at.first].spans[at.second]; }

  // Replaces the best candidate if this one ended early enough to be the cause, and later than the
  // best.
  void consider(const Place& candidate, double in_time_s, Place& best) const {
    if (span(candidate).end_s > in_time_s) return;
    if (best.first < 0 || span(candidate).end_s > span(best).end_s) best = candidate;
  }

  // The task that ran on the stream of `task` immediately before it.
  TaskIndex previous_on_stream(std::int32_t recorded, TaskIndex task) {
    auto& before = before_on_stream_[recorded];
    const RankTimeline& rank = timeline_.ranks[recorded];
    const RankClass& owner = plan_.classes[rank.rank_class];
    if (before.empty()) {
      before.assign(owner.tasks.size(), -1);
      std::vector<std::vector<TaskIndex>> streams(owner.streams.size());
      for (TaskIndex t = 0; t < std::ssize(owner.tasks); ++t) {
        streams[owner.tasks[t].stream].push_back(t);
      }
      for (std::size_t s = 0; s < streams.size(); ++s) {
        if (owner.streams[s].order == StreamOrder::unordered) continue;
        auto& order = streams[s];
        std::ranges::stable_sort(order, {}, [&](TaskIndex t) { return rank.spans[t].start_s; });
        for (std::size_t i = 1; i < order.size(); ++i) before[order[i]] = order[i - 1];
      }
    }
    return before[task];
  }

  Place latest_before(std::int32_t recorded, TaskIndex t) {
    const RankTimeline& rank = timeline_.ranks[recorded];
    const RankClass& owner = plan_.classes[rank.rank_class];
    const Task& task = owner.tasks[t];
    const Place at{recorded, t};
    Place best{-1, -1};
    // If a task joins the first of several tasks, others may end while it already runs.
    const double start_s = span(at).start_s;
    for (const TaskIndex before : task.after) consider({recorded, before}, start_s, best);
    if (const TaskIndex before = previous_on_stream(recorded, t); before >= 0) {
      consider({recorded, before}, start_s, best);
    }
    const std::int32_t member = of_rank_[rank.rank].member;
    if (task.kind == TaskKind::recv || (task.kind == TaskKind::send && task.synchronous)) {
      const Counterpart& other = partner_[rank.rank_class][t];
      const std::int32_t peer = timeline_.recorded_as[owner.peers[task.peer_slot][member]];
      if (task.kind == TaskKind::recv) {
        consider({peer, other.task}, span(at).end_s, best);
      } else {
        for (const TaskIndex before : plan_.classes[other.rank_class].tasks[other.task].after) {
          consider({peer, before}, start_s, best);
        }
      }
    }
    if (task.kind == TaskKind::collective) best = last_arrival(at, owner, task, member, best);
    return best;
  }

  // A collective waits for its last member: the path continues with what that member did before.
  Place last_arrival(const Place& at, const RankClass& owner, const Task& task, std::int32_t member,
                     Place best) {
    const Group& group = plan_.groups[owner.groups[task.group_slot][member]];
    const std::int32_t rendezvous =
        rendezvous_[timeline_.ranks[at.first].rank_class][task.group_slot];
    std::int32_t seen = -1;
    for (const RankId rank : group.members) {
      const std::int32_t other = timeline_.recorded_as[rank];
      if (other == seen) continue;  // the recorded rank stands for several members
      seen = other;
      const auto found =
          collectives_.find({timeline_.ranks[other].rank_class, rendezvous, task.sequence});
      CHECK(found != collectives_.end(), "a member of a group lacks collective {}", task.name);
      const TaskIndex t = found->second;
      const RankClass& other_class = plan_.classes[timeline_.ranks[other].rank_class];
      for (const TaskIndex before : other_class.tasks[t].after) {
        consider({other, before}, span(at).end_s, best);
      }
      if (const TaskIndex before = previous_on_stream(other, t); before >= 0) {
        consider({other, before}, span(at).end_s, best);
      }
    }
    return best;
  }

  const Plan& plan_;
  const Timeline& timeline_;
  const std::vector<ClassMember> of_rank_;
  const std::vector<std::vector<Counterpart>> partner_;
  const std::vector<std::vector<std::int32_t>> rendezvous_;
  std::vector<std::vector<TaskIndex>> before_on_stream_;  // [recorded rank][task], lazily
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, TaskIndex> collectives_;
};

bool in_background(const Task& task) {
  return task.category == Category::snapshot;
}

// Charges a step of the path: its task's cost parts first (scaled down if a slow node stretched or
// an overlap hid some of it), the rest to the task's own category.
void charge(const Task& task, double seconds, IterationReport& report) {
  const double planned = total_seconds(task.cost);
  const double scale = planned > seconds && planned > 0 ? seconds / planned : 1;
  for (const CostPart& part : task.cost) {
    report.critical_path_s[static_cast<int>(part.category)] += part.seconds * scale;
    report.origin_s[static_cast<int>(part.origin)] += part.seconds * scale;
  }
  const double rest = seconds - planned * scale;
  report.critical_path_s[static_cast<int>(task.category)] += rest;
  report.origin_s[static_cast<int>(task.origin)] += rest;
}

bool is_compute(const Task& task) {
  return task.kind == TaskKind::compute && task.category != Category::optimizer &&
         task.category != Category::compression && task.category != Category::host &&
         task.category != Category::filling;
}

bool is_communication(Category category) {
  return category == Category::tp || category == Category::cp || category == Category::pp ||
         category == Category::ep || category == Category::dp;
}

// Share of a compute task in which the GPU's own kernels run, and not a collective that is part of
// its cost.
double kernel_share(const Task& task) {
  double kernels_s = 0;
  for (const CostPart& part : task.cost) {
    if (!is_communication(part.category)) kernels_s += part.seconds;
  }
  const double total_s = total_seconds(task.cost);
  return total_s > 0 ? kernels_s / total_s : 1;
}

// Whether a task is a collective inside a replica: part of a pass, although it is a task of its
// own.
bool is_inner_collective(const Task& task) {
  return task.kind == TaskKind::collective && task.bytes > 0 &&
         (task.category == Category::tp || task.category == Category::cp ||
          task.category == Category::ep);
}

// When a rank runs its passes. A collective with known time counts only for that time, since before
// it the rank waits for others.
std::vector<Span> spans_of_passes(const RankClass& owner, const RankTimeline& rank, int iteration) {
  std::vector<Span> spans;
  for (TaskIndex t = 0; t < std::ssize(owner.tasks); ++t) {
    const Task& task = owner.tasks[t];
    const bool inner = is_inner_collective(task);
    if (task.iteration != iteration || (!is_compute(task) && !inner)) continue;
    Span span = rank.spans[t];
    if (inner && !task.as_flows) {
      span.start_s = std::max(span.start_s, span.end_s - total_seconds(task.cost));
    }
    spans.push_back(span);
  }
  std::ranges::sort(spans, {}, &Span::start_s);
  return spans;
}

struct Passes {
  double busy_s = 0;  // while at least one of them runs
  double from_first_to_last_s = 0;
};

Passes passes_of(const std::vector<Span>& spans) {
  Passes passes;
  if (spans.empty()) return passes;
  double until_s = spans.front().start_s;
  for (const Span& span : spans) {
    passes.busy_s += std::max(0.0, span.end_s - std::max(span.start_s, until_s));
    until_s = std::max(until_s, span.end_s);
  }
  passes.from_first_to_last_s = until_s - spans.front().start_s;
  return passes;
}

Bubble bubble_of(const Plan& plan, const Timeline& timeline, int iteration, double time_s) {
  double busiest_s = 0;
  double longest_s = 0;
  for (const RankTimeline& rank : timeline.ranks) {
    const RankClass& owner = plan.classes[rank.rank_class];
    const Passes passes = passes_of(spans_of_passes(owner, rank, iteration));
    busiest_s = std::max(busiest_s, passes.busy_s);
    longest_s = std::max(longest_s, passes.from_first_to_last_s);
  }
  // Without a flush a rank also works on other iterations within the span, so its share is the
  // period. Because of rounding the parts of a span may exceed it.
  const auto beyond_busiest_s = [&](double span_s) { return std::max(0.0, span_s - busiest_s); };
  return {beyond_busiest_s(time_s), beyond_busiest_s(std::min(longest_s, time_s)),
          idle_share(plan, timeline, iteration, time_s)};
}

}  // namespace

double idle_share(const Plan& plan, const Timeline& timeline, int iteration, double time_s) {
  double idle = 0;
  double ranks = 0;
  for (const RankTimeline& rank : timeline.ranks) {
    const RankClass& owner = plan.classes[rank.rank_class];
    double kernels_s = 0;
    for (TaskIndex t = 0; t < std::ssize(owner.tasks); ++t) {
      const Task& task = owner.tasks[t];
      if (task.kind != TaskKind::compute || task.iteration != iteration) continue;
      const Span& span = rank.spans[t];
      kernels_s += (span.end_s - span.start_s) * kernel_share(task);
    }
    idle += rank.multiplicity * (1 - kernels_s / time_s);
    ranks += rank.multiplicity;
  }
  return idle / ranks;
}

std::vector<double> foreground_ends_s(const Plan& plan, const Timeline& timeline, int iteration) {
  // Tasks are selected once per class, because thousands of ranks may have the tasks of one class.
  std::vector<std::vector<TaskIndex>> counted(plan.classes.size());
  for (std::size_t c = 0; c < counted.size(); ++c) {
    const std::vector<Task>& tasks = plan.classes[c].tasks;
    for (TaskIndex t = 0; t < std::ssize(tasks); ++t) {
      if (tasks[t].iteration == iteration && !in_background(tasks[t])) counted[c].push_back(t);
    }
  }
  std::vector<double> ends_s;
  for (const RankTimeline& rank : timeline.ranks) {
    double& end_s = ends_s.emplace_back(0);
    for (const TaskIndex t : counted[rank.rank_class]) {
      end_s = std::max(end_s, rank.spans[t].end_s);
    }
  }
  return ends_s;
}

double foreground_end_s(const Plan& plan, const Timeline& timeline, int iteration) {
  const std::vector<double> ends_s = foreground_ends_s(plan, timeline, iteration);
  return ends_s.empty() ? 0 : *std::ranges::max_element(ends_s);
}

SteadyWindow reported_window(const Job& job, const Plan& plan) {
  if (plan.iterations == 1) return {0, 0};
  Schedule schedule;
  schedule.ranks = job.layout.pp;
  schedule.microbatches = microbatches(job.layout, job.batch);
  schedule.iterations = plan.iterations;
  return steady_window(schedule);
}

Span reported_span(const Job& job, const Plan& plan, const Timeline& timeline) {
  const SteadyWindow window = reported_window(job, plan);
  const bool several = window.last > window.first;
  return {several ? foreground_end_s(plan, timeline, window.first) : 0,
          foreground_end_s(plan, timeline, window.last)};
}

double iteration_s(const Job& job, const Plan& plan, const Timeline& timeline) {
  const SteadyWindow window = reported_window(job, plan);
  const Span span = reported_span(job, plan, timeline);
  return (span.end_s - span.start_s) / std::max(1, window.last - window.first);
}

double snapshot_end_s(const Plan& plan, const Timeline& timeline) {
  double end_s = 0;
  for (const RankTimeline& rank : timeline.ranks) {
    const RankClass& owner = plan.classes[rank.rank_class];
    for (TaskIndex t = 0; t < std::ssize(owner.tasks); ++t) {
      if (in_background(owner.tasks[t])) end_s = std::max(end_s, rank.spans[t].end_s);
    }
  }
  return end_s;
}

std::vector<PathStep> critical_path(const Plan& plan, const Timeline& timeline) {
  std::int32_t last_rank = -1;
  TaskIndex last_task = -1;
  double end_s = -1;
  for (std::int32_t r = 0; r < std::ssize(timeline.ranks); ++r) {
    const RankTimeline& rank = timeline.ranks[r];
    for (TaskIndex t = 0; t < std::ssize(rank.spans); ++t) {
      if (in_background(plan.classes[rank.rank_class].tasks[t])) continue;
      if (rank.spans[t].end_s <= end_s) continue;
      end_s = rank.spans[t].end_s;
      last_rank = r;
      last_task = t;
    }
  }
  CHECK(last_rank >= 0, "the timeline is empty");
  return PathFinder(plan, timeline).walk(last_rank, last_task);
}

double run_step_s(const Warmup& warmup, double step_s) {
  return warmup.share * warmup.step_s + (1 - warmup.share) * step_s;
}

namespace {

// Sets the step time, and the rates and shares that follow from it.
void set_time(IterationReport& report, double time_s) {
  const double longer = time_s / report.time_s;
  report.time_s = time_s;
  for (double* rate : {&report.tokens_per_s, &report.tflops_per_gpu, &report.mfu,
                       &report.mfu_causal, &report.hfu, &report.hfu_causal}) {
    *rate /= longer;
  }
}

}  // namespace

bool counts_differ(const IterationReport& report) {
  return report.mfu_causal < 0.98 * report.mfu;
}

void add_sync(IterationReport& report, const std::vector<SyncLevel>& levels,
              std::vector<SyncReport> sync) {
  std::vector<SyncSeconds> seconds;
  for (const SyncReport& own : sync) seconds.push_back(own.seconds);
  const MeanStep mean = mean_step(levels, seconds, report.time_s);
  report.sync = std::move(sync);
  report.inner_step_s = mean.inner_s;
  // The step is shortened to its mean length, because islands that are cut off stop within a step.
  const double cut = mean.inner_s / report.time_s;
  for (double& own_s : report.critical_path_s) own_s *= cut;
  for (double& own_s : report.origin_s) own_s *= cut;
  double exchanged_s = 0;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const double own_s = mean_exposed_s(levels[level], seconds[level]);
    report.origin_s[static_cast<int>(seconds[level].origin)] += own_s;
    exchanged_s += own_s;
  }
  // During exchanges all GPUs are idle.
  const double nominal_s = mean.inner_s + exchanged_s;
  report.bubble.idle = (report.bubble.idle * mean.inner_s + exchanged_s) / nominal_s;
  // The time of steps that did not count is added.
  for (double& own_s : report.origin_s) own_s *= mean.all_s / nominal_s;
  const double added_s = mean.all_s - mean.inner_s;
  report.critical_path_s[static_cast<int>(Category::sync)] += added_s;
  report.bubble.makespan_s = report.bubble.makespan_s * cut + added_s;
  set_time(report, mean.all_s);
}

void add_stragglers(IterationReport& report, const StragglerReport& stragglers) {
  const double added_s = stragglers.step_s.mean - report.time_s;
  // The waiting time is negative if the workers that count are faster than the mean; then passes
  // are shorter.
  const double apart_s = added_s - stragglers.passes_s - stragglers.exchange_s;
  const double waits_s = std::max(0.0, apart_s);
  const double longer_passes_s = stragglers.passes_s + std::min(0.0, apart_s);
  const auto on_path = [&](Category category) -> double& {
    return report.critical_path_s[static_cast<int>(category)];
  };
  // The categories of a pass and of what runs inside it.
  using enum Category;
  double passes_on_path_s = 0;
  const Category passes[] = {forward, backward, recompute, tp, cp, pp, ep, host};
  for (const Category category : passes) passes_on_path_s += on_path(category);
  // If a step waits for its input, its path may contain no pass.
  const bool has_passes = passes_on_path_s > 0;
  for (const Category category : passes) {
    if (has_passes) on_path(category) *= 1 + longer_passes_s / passes_on_path_s;
  }
  on_path(dp) += stragglers.exchange_s;
  on_path(wait) += has_passes ? waits_s : waits_s + longer_passes_s;
  const double longer = stragglers.step_s.mean / report.time_s;
  for (double& seconds : report.origin_s) seconds *= longer;
  const double idle_s = report.bubble.idle * report.time_s + waits_s + stragglers.exchange_s;
  report.bubble.makespan_s += waits_s + stragglers.exchange_s;
  report.bubble.idle = idle_s / stragglers.step_s.mean;
  report.hfu *= stragglers.load;
  report.hfu_causal *= stragglers.load;
  report.stragglers = stragglers;
  set_time(report, stragglers.step_s.mean);
}

void set_drawn(IterationReport& report, const Estimate& step_s, int draw) {
  const double longer = step_s.mean / report.time_s;
  report.drawn_s = step_s;
  report.draw = draw;
  set_time(report, step_s.mean);
  report.bubble.makespan_s *= longer;
  report.bubble.longest_stage_s *= longer;
  for (double& seconds : report.critical_path_s) seconds *= longer;
  for (double& seconds : report.origin_s) seconds *= longer;
}

IterationReport iteration_report(const Job& job, const HardwareFlops& hardware_flops,
                                 const std::vector<GpuMemory>& memory, const Plan& plan,
                                 const Timeline& timeline, const std::vector<PathStep>& path) {
  IterationReport report;
  const SteadyWindow window = reported_window(job, plan);
  const auto [begin_s, end_s] = reported_span(job, plan, timeline);
  const double periods = std::max(1, window.last - window.first);
  report.time_s = iteration_s(job, plan, timeline);
  report.recorded_s = report.time_s;

  double charged_until_s = begin_s;
  for (const PathStep& step : path) {
    // Overlap with the previous step on the path counts only from that step's end on.
    if (step.end_s <= charged_until_s) continue;
    if (step.start_s >= end_s) break;
    const double start_s = std::max(step.start_s, charged_until_s);
    const Task& task = plan.classes[step.rank_class].tasks[step.task];
    charge(task, std::min(step.end_s, end_s) - start_s, report);
    // In the gap before this step of the path, its task waited for its not_before_s.
    report.critical_path_s[static_cast<int>(Category::wait)] += start_s - charged_until_s;
    report.origin_s[static_cast<int>(task.origin)] += start_s - charged_until_s;
    charged_until_s = step.end_s;
  }
  for (double& seconds : report.critical_path_s) seconds /= periods;
  for (double& seconds : report.origin_s) seconds /= periods;

  const double gpus = job.layout.ranks();
  const double peak = mean_peak_flops(job);
  report.tokens_per_s = tokens_per_step(job) / report.time_s;
  report.tflops_per_gpu = flops_per_step(job) / report.time_s / gpus / 1e12;
  report.mfu = report.tflops_per_gpu * 1e12 / peak;
  report.mfu_causal = flops_per_step(job, AttentionCount::causal) / report.time_s / gpus / peak;
  report.hfu = hardware_flops.full / report.time_s / gpus / peak;
  report.hfu_causal = hardware_flops.causal / report.time_s / gpus / peak;
  report.bubble = bubble_of(plan, timeline, window.last, report.time_s);
  report.memory = memory;
  return report;
}

}  // namespace windtunnel
