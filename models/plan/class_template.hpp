// The task lists of a Plan prepared for execution: successors, initial counters and message
// partners, per class of ranks. All executors start from these arrays, in simulated and in real
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/plan/plan.hpp"

namespace windtunnel {

struct TaskTemplate {
  double plain_s = 0;
  double slowed_s = 0;  // the part of it that a slow node lengthens
  double not_before_s = 0;
  std::int32_t pending = 0;          // predecessors that must still end
  std::int32_t first_successor = 0;  // into ClassTemplate::successors
  Counterpart counterpart;
  TaskKind kind = TaskKind::compute;
  bool timed = false;        // the rank's timer watches not_before_s
  bool synchronous = false;  // a send waits for its receive
  std::int16_t stream = 0;
  std::int16_t iteration = 0;

  double seconds(double slowdown) const { return plain_s + (slowdown - 1) * slowed_s; }
};

struct StreamTemplate {
  StreamOrder order = StreamOrder::in_order;
  bool passive = false;          // holds only receives, which need no actor
  std::vector<TaskIndex> tasks;  // list order
};

struct ClassTemplate {
  std::vector<TaskTemplate> tasks;
  // Task t has the indices [first_successor of t, first_successor of t + 1).
  std::vector<TaskIndex> successors;
  std::vector<StreamTemplate> streams;
  std::vector<TaskIndex> timed;  // ascending by not_before_s

  std::span<const TaskIndex> successors_of(TaskIndex task) const {
    const std::size_t begin = tasks[task].first_successor;
    const std::size_t next = static_cast<std::size_t>(task) + 1;
    const std::size_t end = next < tasks.size() ? tasks[next].first_successor : successors.size();
    return {successors.data() + begin, end - begin};
  }
};

// Result: [class]. The Plan must pass the checks of validate_plan, except that it may deadlock.
std::vector<ClassTemplate> class_templates(const Plan& plan);

// Whether `a` runs after `b` when both are ready on a stream by priority.
bool runs_later(const std::vector<Task>& tasks, TaskIndex a, TaskIndex b);

// Whether any task copies over PCIe, so that NICs share the PCIe links with copies. Without copies
// those links need not be simulated: a NIC is no faster than the PCIe links above it.
bool copies_over_pcie(const Plan& plan);

}  // namespace windtunnel
