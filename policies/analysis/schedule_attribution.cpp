#include "policies/analysis/schedule_attribution.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

bool is_backward(ActionKind kind) {
  return kind == ActionKind::backward || kind == ActionKind::backward_input ||
         kind == ActionKind::backward_weight;
}

double& of(TimeUseSeconds& seconds, TimeUse use) {
  return seconds[static_cast<std::size_t>(use)];
}

// Returns the length of the intersection of two spans of time.
double common_s(const StepWindow& a, const StepWindow& b) {
  return std::max(0.0, std::min(a.to_s, b.to_s) - std::max(a.from_s, b.from_s));
}

// Divides `seconds` of a node's time among the uses of its action.
void add_work(const Schedule& schedule, const std::vector<StageCost>& costs,
              const ScheduleGraph::Node& node, double seconds, TimeUseSeconds& uses_s) {
  const auto& actions = schedule.actions[node.rank];
  const Action& action = actions[node.position];
  WorkSeconds work_s = work_of(schedule, costs, action);
  if (action.with_next) {
    const WorkSeconds second_s = work_of(schedule, costs, actions[node.position + 1]);
    for (std::size_t i = 0; i < work_s.size(); ++i) work_s[i] += second_s[i];
  }
  const double total_s = std::accumulate(work_s.begin(), work_s.end(), 0.0);
  if (total_s <= 0) return;
  // The first four uses are those of Work, in the same order.
  for (std::size_t i = 0; i < work_s.size(); ++i) uses_s[i] += work_s[i] * (seconds / total_s);
}

// Divides a gap, in which the node's rank waits for the node to start, along the chain before it.
void add_gap(const ScheduleGraph& graph, const GraphTimes& times, std::int32_t node,
             const StepWindow& gap, TimeUse waiting, TimeUseSeconds& uses_s) {
  double message_s = 0;
  for (std::int32_t on = last_before(graph, times, node); on >= 0 && times.end_s[on] > gap.from_s;
       on = last_before(graph, times, on)) {
    if (graph.nodes[on].is_message()) {
      message_s += common_s({times.start_s[on], times.end_s[on]}, gap);
    }
  }
  of(uses_s, TimeUse::message) += message_s;
  of(uses_s, waiting) += gap.to_s - gap.from_s - message_s;
}

TimeUseSeconds attribute_rank(const Schedule& schedule, const std::vector<StageCost>& costs,
                              const ScheduleGraph& graph, const GraphTimes& times, int rank,
                              const StepWindow& window, double norm_s) {
  TimeUseSeconds uses_s{};
  const StepWindow run{window.from_s, window.to_s - norm_s};
  double free_s = run.from_s;
  bool has_worked = false;
  std::int32_t previous = -1;
  for (const std::int32_t node : graph.node_of[rank]) {
    if (node == previous) continue;  // the second action of a pair
    const StepWindow span{times.start_s[node], times.end_s[node]};
    const double gap_end_s = std::min(span.from_s, run.to_s);
    if (gap_end_s > free_s) {
      const TimeUse waiting = has_worked ? TimeUse::stall : TimeUse::warm_up;
      add_gap(graph, times, node, {free_s, gap_end_s}, waiting, uses_s);
    }
    add_work(schedule, costs, graph.nodes[node], common_s(span, run), uses_s);
    free_s = std::max(free_s, std::min(span.to_s, run.to_s));
    has_worked |= is_compute(schedule.actions[rank][graph.nodes[node].position].kind);
    previous = node;
  }
  of(uses_s, TimeUse::cool_down) = run.to_s - free_s;
  of(uses_s, TimeUse::optimizer_sync) = norm_s;
  return uses_s;
}

}  // namespace

std::string_view to_string(TimeUse use) {
  constexpr std::array<std::string_view, kTimeUses> kNames = {
      "forward", "backward_input", "backward_weight", "recompute",     "warm_up",
      "message", "stall",          "cool_down",       "optimizer_sync"};
  return kNames[static_cast<std::size_t>(use)];
}

StepClock::StepClock(const Schedule& schedule, const ScheduleGraph& graph,
                     const OptimizerSync& sync)
    : schedule_(schedule), graph_(graph), sync_(sync), first_(schedule.ranks, -1) {
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    const auto& actions = schedule.actions[rank];
    const auto first = std::ranges::find_if(actions, is_compute, &Action::kind);
    if (first != actions.end()) first_[rank] = graph.node_of[rank][first - actions.begin()];
  }
  if (schedule.iterations == 1) return;
  backwards_.assign(schedule.iterations, std::vector<std::vector<std::int32_t>>(schedule.ranks));
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    const auto& actions = schedule.actions[rank];
    for (std::size_t i = 0; i < actions.size(); ++i) {
      if (!is_backward(actions[i].kind)) continue;
      const int iteration = actions[i].unit / (schedule.microbatches * schedule.slices);
      backwards_[iteration][rank].push_back(graph.node_of[rank][i]);
    }
  }
}

double StepClock::norm_s() const {
  return sync_.post_validation || schedule_.iterations > 1 ? 0 : sync_.norm_s;
}

double StepClock::span_s(const GraphTimes& times, int rank) const {
  if (first_[rank] < 0) return 0;
  return times.end_s[graph_.node_of[rank].back()] - times.start_s[first_[rank]];
}

std::int32_t StepClock::last_of_iteration(const GraphTimes& times, int iteration, int rank) const {
  std::int32_t last = -1;
  for (int r = 0; r < schedule_.ranks; ++r) {
    if (rank >= 0 && r != rank) continue;
    for (const std::int32_t node : backwards_[iteration][r]) {
      if (last < 0 || times.end_s[node] > times.end_s[last]) last = node;
    }
  }
  return last;
}

std::int32_t StepClock::last_node(const GraphTimes& times) const {
  if (schedule_.iterations > 1) return last_of_iteration(times, steady_window(schedule_).last);
  std::int32_t last = -1;
  double longest_s = -1;
  for (int rank = 0; rank < schedule_.ranks; ++rank) {
    if (graph_.node_of[rank].empty()) continue;
    const std::int32_t node = graph_.node_of[rank].back();
    const double length_s = sync_.post_validation ? span_s(times, rank) : times.end_s[node];
    if (length_s > longest_s) {
      longest_s = length_s;
      last = node;
    }
  }
  return last;
}

double StepClock::step_s(const GraphTimes& times) const {
  const std::int32_t last = last_node(times);
  if (last < 0) return norm_s();
  if (schedule_.iterations > 1) {
    const SteadyWindow steady = steady_window(schedule_);
    return (times.end_s[last] - times.end_s[last_of_iteration(times, steady.first)]) /
           (steady.last - steady.first);
  }
  if (sync_.post_validation) return span_s(times, graph_.nodes[last].rank);
  return times.end_s[last] + norm_s();
}

std::vector<StepWindow> StepClock::windows(const GraphTimes& times) const {
  const double length_s = step_s(times);
  std::vector<StepWindow> windows;
  for (int rank = 0; rank < schedule_.ranks; ++rank) {
    double from_s = 0;
    if (schedule_.iterations > 1) {
      const int iteration = steady_window(schedule_).last;
      from_s = times.end_s[last_of_iteration(times, iteration, rank)] - length_s;
    } else if (sync_.post_validation && first_[rank] >= 0) {
      from_s = times.start_s[first_[rank]];
    }
    windows.push_back({from_s, from_s + length_s});
  }
  return windows;
}

std::vector<TimeUseSeconds> attribute_time(const Schedule& schedule,
                                           const std::vector<StageCost>& costs,
                                           const ScheduleGraph& graph, const GraphTimes& times,
                                           const StepClock& clock) {
  const std::vector<StepWindow> windows = clock.windows(times);
  std::vector<TimeUseSeconds> uses_s;
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    uses_s.push_back(
        attribute_rank(schedule, costs, graph, times, rank, windows[rank], clock.norm_s()));
  }
  return uses_s;
}

CriticalPath schedule_path(const Schedule& schedule, const std::vector<StageCost>& costs,
                           const ScheduleGraph& graph, const GraphTimes& times,
                           const StepClock& clock) {
  CriticalPath path;
  of(path.composition_s, TimeUse::optimizer_sync) = clock.norm_s();
  std::int32_t node = clock.last_node(times);
  if (node < 0) return path;
  const double from_s = times.end_s[node] + clock.norm_s() - clock.step_s(times);
  for (; node >= 0 && times.end_s[node] > from_s; node = last_before(graph, times, node)) {
    const ScheduleGraph::Node& at = graph.nodes[node];
    const double start_s = std::max(times.start_s[node], from_s);
    const double seconds = times.end_s[node] - start_s;
    path.steps.push_back(
        {at.rank, at.position, at.receiver, start_s - from_s, times.end_s[node] - from_s});
    if (at.is_message()) {
      of(path.composition_s, TimeUse::message) += seconds;
      ++path.messages;
    } else {
      add_work(schedule, costs, at, seconds, path.composition_s);
    }
  }
  std::reverse(path.steps.begin(), path.steps.end());
  return path;
}

std::vector<double> node_slack_s(const ScheduleGraph& graph, const std::vector<double>& duration_s,
                                 const GraphTimes& times) {
  const double last_s =
      times.end_s.empty() ? 0 : *std::max_element(times.end_s.begin(), times.end_s.end());
  std::vector<double> latest_s(times.end_s.size(), last_s);
  std::vector<double> slack_s(times.end_s.size());
  for (std::size_t n = latest_s.size(); n-- > 0;) {
    for (const std::int32_t on : graph.waits_for(static_cast<std::int32_t>(n))) {
      latest_s[on] = std::min(latest_s[on], latest_s[n] - duration_s[n]);
    }
    slack_s[n] = std::max(0.0, latest_s[n] - times.end_s[n]);
  }
  return slack_s;
}

}  // namespace windtunnel
