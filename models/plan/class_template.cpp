#include "models/plan/class_template.hpp"

#include <algorithm>

#include "models/plan/task_cost.hpp"

namespace windtunnel {
namespace {

void link_successors(const RankClass& rank_class, ClassTemplate& result) {
  const size_t tasks = rank_class.tasks.size();
  std::vector<std::int32_t> count(tasks + 1, 0);
  for (const Task& task : rank_class.tasks) {
    for (TaskIndex before : task.after) ++count[before];
  }
  std::int32_t next = 0;
  for (size_t t = 0; t < tasks; ++t) {
    result.tasks[t].first_successor = next;
    next += count[t];
  }
  result.successors.resize(next);
  std::vector<std::int32_t> filled(tasks, 0);
  for (size_t t = 0; t < tasks; ++t) {
    for (TaskIndex before : rank_class.tasks[t].after) {
      result.successors[result.tasks[before].first_successor + filled[before]++] =
          static_cast<TaskIndex>(t);
    }
  }
}

ClassTemplate make_class(const RankClass& rank_class,
                         const std::vector<Counterpart>& counterparts) {
  ClassTemplate result;
  for (const Stream& stream : rank_class.streams) {
    result.streams.push_back({stream.order, stream.order != StreamOrder::by_priority, {}});
  }
  result.tasks.reserve(rank_class.tasks.size());
  for (size_t t = 0; t < rank_class.tasks.size(); ++t) {
    const Task& task = rank_class.tasks[t];
    StreamTemplate& stream = result.streams[task.stream];
    stream.tasks.push_back(static_cast<TaskIndex>(t));
    if (task.kind != TaskKind::recv) stream.passive = false;
    TaskTemplate entry;
    entry.plain_s = total_seconds(task.cost);
    entry.not_before_s = task.not_before_s;
    entry.pending =
        task.join_first > 0 ? task.join_first : static_cast<std::int32_t>(task.after.size());
    entry.counterpart = counterparts[t];
    entry.kind = task.kind;
    entry.slowed_s = plain_seconds(task, 2) - entry.plain_s;
    entry.stream = task.stream;
    entry.iteration = task.iteration;
    result.tasks.push_back(entry);
  }
  for (size_t t = 0; t < result.tasks.size(); ++t) {
    TaskTemplate& task = result.tasks[t];
    const StreamTemplate& stream = result.streams[task.stream];
    // An actor that takes its tasks in order waits for the time itself.
    task.timed = task.not_before_s > 0 && (stream.passive || stream.order != StreamOrder::in_order);
    if (task.timed) result.timed.push_back(static_cast<TaskIndex>(t));
  }
  std::stable_sort(result.timed.begin(), result.timed.end(), [&](TaskIndex a, TaskIndex b) {
    return result.tasks[a].not_before_s < result.tasks[b].not_before_s;
  });
  link_successors(rank_class, result);
  return result;
}

}  // namespace

std::span<const TaskIndex> ClassTemplate::successors_of(TaskIndex task) const {
  const size_t begin = tasks[task].first_successor;
  const size_t next = static_cast<size_t>(task) + 1;
  const size_t end = next < tasks.size() ? tasks[next].first_successor : successors.size();
  return {successors.data() + begin, end - begin};
}

std::vector<ClassTemplate> class_templates(const Plan& plan) {
  std::vector<ClassTemplate> templates;
  const std::vector<std::vector<Counterpart>> counterparts = match_messages(plan);
  for (size_t c = 0; c < plan.classes.size(); ++c) {
    templates.push_back(make_class(plan.classes[c], counterparts[c]));
  }
  return templates;
}

bool runs_later(const std::vector<Task>& tasks, TaskIndex a, TaskIndex b) {
  if (tasks[a].priority != tasks[b].priority) return tasks[a].priority < tasks[b].priority;
  return a > b;
}

bool copies_over_pcie(const Plan& plan) {
  const auto over_pcie = [](const Demand& demand) {
    return demand.resource == Resource::pcie_out || demand.resource == Resource::pcie_in;
  };
  for (const RankClass& rank_class : plan.classes) {
    for (const Task& task : rank_class.tasks) {
      for (const Flow& flow : task.flows) {
        if (std::ranges::any_of(flow.demands, over_pcie)) return true;
      }
    }
  }
  return false;
}

}  // namespace windtunnel
