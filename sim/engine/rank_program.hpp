// A Plan made ready to run: task lists with successors and initial counters per class, the ranks to
// simulate, their transfers as folded flows. Plain arrays, nothing of SimGrid.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/plan/plan.hpp"
#include "sim/engine/fold.hpp"

namespace windtunnel {

struct TaskTemplate {
  double plain_s = 0;
  double slowed_s = 0;  // of it what a slow node lengthens
  double not_before_s = 0;
  std::int32_t pending = 0;          // predecessors that must still end
  std::int32_t first_successor = 0;  // into ClassTemplate::successors
  Counterpart counterpart;
  TaskKind kind = TaskKind::compute;
  bool timed = false;  // not_before_s is watched by the rank's timer
  std::int16_t stream = 0;
  std::int16_t iteration = 0;

  double seconds(double slowdown) const { return plain_s + (slowdown - 1) * slowed_s; }
};

struct StreamTemplate {
  StreamOrder order = StreamOrder::in_order;
  bool passive = false;          // receives only: bookkeeping without an actor
  std::vector<TaskIndex> tasks;  // list order
};

struct ClassTemplate {
  std::vector<TaskTemplate> tasks;
  std::vector<TaskIndex> successors;  // of task t: [first_successor of t, that of t + 1)
  std::vector<StreamTemplate> streams;
  std::vector<TaskIndex> timed;  // ascending by not_before_s

  std::span<const TaskIndex> successors_of(TaskIndex task) const;
};

// One edge type of a folded collective, sent by the simulated rank that stands for its source.
struct GroupEdge {
  std::int32_t rank = 0;  // index into Folding::ranks
  std::int32_t slot = 0;
  FlowIndex flow = 0;  // folded
  double bytes = 0;    // per byte of the buffer
  auto owner() const { return std::pair(rank, slot); }
};

struct FoldedGroup {
  int arrivals = 0;                              // (simulated rank, slot) pairs that meet
  std::vector<std::vector<GroupEdge>> patterns;  // [pattern], ascending by owner
};

struct Program {
  std::vector<ClassTemplate> classes;
  std::vector<FoldedGroup> groups;
};

Program make_program(const Plan& plan, const FlowTable& flows, const Folding& folding);

}  // namespace windtunnel
