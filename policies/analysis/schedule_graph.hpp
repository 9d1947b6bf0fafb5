// A schedule as a graph of actions and messages, of which each waits for others and then takes its
// time: what an analysis walks where the evaluator only plays. Playing it gives the evaluator's
// times; it can be played again with other durations (jitter, a slow rank), at 10 ns per node.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/plan/schedule.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/evaluation/stage_cost.hpp"

namespace windtunnel {

enum class Work { forward, backward_input, backward_weight, recompute };
constexpr int kWorks = 4;
using WorkSeconds = std::array<double, kWorks>;

// What an action consists of; a recomputation that is in no action of its own belongs to the
// backward.
WorkSeconds work_of(const Schedule& schedule, const std::vector<StageCost>& costs,
                    const Action& action);

struct ScheduleGraph {
  struct Node {
    std::int32_t rank = 0;  // of a message: the sender
    // In the rank's list; of an overlapped pair the forward's, of a message that of the action that
    // makes it.
    std::int32_t position = 0;
    std::int32_t receiver = -1;  // >= 0: a message
    bool is_message() const { return receiver >= 0; }
  };
  std::vector<Node> nodes;                         // each behind those that it waits for
  std::vector<std::vector<std::int32_t>> node_of;  // [rank][position]; a pair has one node
  // Those that node n waits for are before[first_before[n]] to before[first_before[n + 1]], one of
  // its own rank first.
  std::vector<std::int32_t> first_before;
  std::vector<std::int32_t> before;

  std::span<const std::int32_t> waits_for(std::int32_t node) const {
    return {before.data() + first_before[node], before.data() + first_before[node + 1]};
  }
};

// The graph of a schedule that passes validate_schedule and holds no messages. Throws Error when
// the order deadlocks.
ScheduleGraph schedule_graph(const Schedule& schedule, const std::vector<StageCost>& costs,
                             const Messages& messages);

// [node] seconds; a pair lasts overlapped_s.
std::vector<double> node_durations(const ScheduleGraph& graph, const Schedule& schedule,
                                   const std::vector<StageCost>& costs,
                                   const MessageTimes& messages);

struct GraphTimes {
  std::vector<double> start_s;  // [node]
  std::vector<double> end_s;
};
// Every node starts when the last one that it waits for ends. Overwrites `times`.
void play(const ScheduleGraph& graph, const std::vector<double>& duration_s, GraphTimes& times);

// The node whose end lets this one start; -1: it could always start. Among equals one of the same
// rank.
std::int32_t last_before(const ScheduleGraph& graph, const GraphTimes& times, std::int32_t node);

}  // namespace windtunnel
