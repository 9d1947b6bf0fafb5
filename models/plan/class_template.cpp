#include "models/plan/class_template.hpp"

#include <algorithm>

#include "models/plan/task_cost.hpp"

namespace windtunnel {
namespace {

void link_successors(const RankClass& rank_class, ClassTemplate& result) {
  const size_t tasks = rank_class.tasks.size();
  for (const Task& task : rank_class.tasks) {
    for (TaskIndex before : task.after) ++result.tasks[before].first_successor;
  }
  // At first first_successor is the end of a task's successors; filling these from the back makes
  // it the begin.
  std::int32_t next = 0;
  for (TaskTemplate& task : result.tasks) next = task.first_successor += next;
  result.successors.resize(next);
  for (size_t t = tasks; t-- > 0;) {
    for (TaskIndex before : rank_class.tasks[t].after) {
      result.successors[--result.tasks[before].first_successor] = static_cast<TaskIndex>(t);
    }
  }
}

std::vector<StreamTemplate> streams_of(const RankClass& rank_class) {
  std::vector<StreamTemplate> streams;
  for (const Stream& stream : rank_class.streams) {
    streams.push_back({stream.order, stream.order != StreamOrder::by_priority, {}});
  }
  std::vector<size_t> count(streams.size());
  for (const Task& task : rank_class.tasks) {
    ++count[task.stream];
    if (task.kind != TaskKind::recv) streams[task.stream].passive = false;
  }
  for (size_t s = 0; s < streams.size(); ++s) streams[s].tasks.reserve(count[s]);
  for (size_t t = 0; t < rank_class.tasks.size(); ++t) {
    streams[rank_class.tasks[t].stream].tasks.push_back(static_cast<TaskIndex>(t));
  }
  return streams;
}

TaskTemplate template_of(const Task& task, const StreamTemplate& stream,
                         const Counterpart& counterpart) {
  TaskTemplate entry;
  entry.plain_s = total_seconds(task.cost);
  if (slowed_by_node(task.kind)) entry.slowed_s = plain_seconds(task, 2) - entry.plain_s;
  entry.not_before_s = task.not_before_s;
  entry.pending =
      task.join_first > 0 ? task.join_first : static_cast<std::int32_t>(task.after.size());
  entry.counterpart = counterpart;
  entry.kind = task.kind;
  entry.stream = task.stream;
  entry.iteration = task.iteration;
  entry.synchronous = task.synchronous;
  // An actor that runs its tasks in order waits for not_before_s itself.
  entry.timed = task.not_before_s > 0 && (stream.passive || stream.order != StreamOrder::in_order);
  return entry;
}

ClassTemplate make_class(const RankClass& rank_class,
                         const std::vector<Counterpart>& counterparts) {
  ClassTemplate result;
  result.streams = streams_of(rank_class);
  result.tasks.reserve(rank_class.tasks.size());
  for (size_t t = 0; t < rank_class.tasks.size(); ++t) {
    const Task& task = rank_class.tasks[t];
    result.tasks.push_back(template_of(task, result.streams[task.stream], counterparts[t]));
    if (result.tasks.back().timed) result.timed.push_back(static_cast<TaskIndex>(t));
  }
  std::stable_sort(result.timed.begin(), result.timed.end(), [&](TaskIndex a, TaskIndex b) {
    return result.tasks[a].not_before_s < result.tasks[b].not_before_s;
  });
  link_successors(rank_class, result);
  return result;
}

}  // namespace

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
