#include "sim/engine/rank_program.hpp"

#include <algorithm>

#include "models/base/error.hpp"
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

// Through which slot of its class a rank belongs to a group.
std::int32_t slot_of(const RankClass& rank_class, std::int32_t member, std::int32_t group) {
  for (size_t s = 0; s < rank_class.groups.size(); ++s) {
    if (rank_class.groups[s][member] == group) return static_cast<std::int32_t>(s);
  }
  CHECK(false, "class '{}': member {} has no slot for group {}", rank_class.name, member, group);
  return -1;
}

std::vector<GroupEdge> fold_edges(const Plan& plan, const std::vector<ClassMember>& of_rank,
                                  const Folding& folding, std::int32_t group,
                                  const FlowTable::Pattern& pattern) {
  std::vector<GroupEdge> edges;
  std::vector<std::int32_t> slot_of_member(plan.groups[group].members.size(), -1);
  for (size_t e = 0; e < pattern.pipelined.size(); ++e) {
    const FlowTable::PipelinedFlow& edge = pattern.pipelined[e];
    const RankId source = plan.groups[group].members[edge.source];
    std::int32_t& slot = slot_of_member[edge.source];
    if (slot < 0) {
      const ClassMember& at = of_rank[source];
      slot = slot_of(plan.classes[at.rank_class], at.member, group);
    }
    edges.push_back({folding.representative[source], slot, folding.flow_of[pattern.first_flow + e],
                     edge.bytes});
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const GroupEdge& a, const GroupEdge& b) { return a.flow < b.flow; });
  edges.erase(std::unique(edges.begin(), edges.end(),
                          [](const GroupEdge& a, const GroupEdge& b) { return a.flow == b.flow; }),
              edges.end());
  std::stable_sort(edges.begin(), edges.end(),
                   [](const GroupEdge& a, const GroupEdge& b) { return a.owner() < b.owner(); });
  return edges;
}

}  // namespace

std::span<const TaskIndex> ClassTemplate::successors_of(TaskIndex task) const {
  const size_t begin = tasks[task].first_successor;
  const size_t next = static_cast<size_t>(task) + 1;
  const size_t end = next < tasks.size() ? tasks[next].first_successor : successors.size();
  return {successors.data() + begin, end - begin};
}

Program make_program(const Plan& plan, const FlowTable& flows, const Folding& folding) {
  Program program;
  const std::vector<std::vector<Counterpart>> counterparts = match_messages(plan);
  for (size_t c = 0; c < plan.classes.size(); ++c) {
    program.classes.push_back(make_class(plan.classes[c], counterparts[c]));
  }
  const std::vector<ClassMember> of_rank = class_of_rank(plan);
  program.groups.resize(folding.groups.size());
  for (size_t g = 0; g < folding.groups.size(); ++g) {
    const std::int32_t group = folding.groups[g];
    for (const FlowTable::Pattern& pattern : flows.groups[group].patterns) {
      program.groups[g].patterns.push_back(fold_edges(plan, of_rank, folding, group, pattern));
    }
  }
  for (const FoldedRank& rank : folding.ranks) {
    for (const auto& slot : plan.classes[rank.rank_class].groups) {
      ++program.groups[folding.group_of[slot[rank.member]]].arrivals;
    }
  }
  return program;
}

}  // namespace windtunnel
