// A schedule as a graph of actions and messages, each of which waits for others and then takes its
// time. The evaluator only computes times; analyses need this graph. play() gives the evaluator's
// times, and can be repeated with other durations (jitter, a slow rank) at 10 ns per node.
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

// The components of an action; a recomputation without an action of its own belongs to the
// backward.
WorkSeconds work_of(const Schedule& schedule, const std::vector<StageCost>& costs,
                    const Action& action);

struct ScheduleGraph {
  struct Node {
    std::int32_t rank = 0;  // of a message: the sender's
    // Index in the rank's list: for an overlapped pair that of the forward, for a message that of
    // the action that sends it.
    std::int32_t position = 0;
    std::int32_t receiver = -1;  // >= 0: a message
    bool is_message() const { return receiver >= 0; }
  };
  std::vector<Node> nodes;                         // in topological order
  std::vector<std::vector<std::int32_t>> node_of;  // [rank][position]; a pair has one node
  // The predecessors of node n are before[first_before[n]] to before[first_before[n + 1]], with one
  // of its own rank first.
  std::vector<std::int32_t> first_before;
  std::vector<std::int32_t> before;

  std::span<const std::int32_t> waits_for(std::int32_t node) const {
    return {before.data() + first_before[node], before.data() + first_before[node + 1]};
  }
};

// The schedule must pass validate_schedule and contain no messages. Throws Error if its order
// deadlocks.
ScheduleGraph schedule_graph(const Schedule& schedule, const std::vector<StageCost>& costs,
                             const Messages& messages);

// [node] seconds; a pair takes overlapped_s().
std::vector<double> node_durations(const ScheduleGraph& graph, const Schedule& schedule,
                                   const std::vector<StageCost>& costs,
                                   const MessageTimes& messages);

struct GraphTimes {
  std::vector<double> start_s;  // [node]
  std::vector<double> end_s;
};
// Starts every node when its last predecessor ends. Overwrites `times`.
void play(const ScheduleGraph& graph, const std::vector<double>& duration_s, GraphTimes& times);

// The predecessor whose end determines the node's start; -1: it has none. Among equals one of the
// same rank is preferred.
std::int32_t last_before(const ScheduleGraph& graph, const GraphTimes& times, std::int32_t node);

}  // namespace windtunnel
