// A schedule as a graph of actions and messages: each waits for others and then takes its time. The
// evaluator only computes times, but analyses need to know what waits for what. play() computes the
// same times from this graph, also for other durations (jitter, a slow rank), at 10 ns per node.
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

// Divides the time of an action. A recomputation that is not a separate action belongs to the
// backward.
WorkSeconds work_of(const Schedule& schedule, const std::vector<StageCost>& costs,
                    const Action& action);

struct ScheduleGraph {
  struct Node {
    std::int32_t rank = 0;  // a message has its sender's
    // Index in the rank's list. An overlapped pair has that of its forward, a message that of the
    // action that sends it.
    std::int32_t position = 0;
    std::int32_t receiver = -1;  // >= 0: a message
    bool is_message() const { return receiver >= 0; }
  };
  std::vector<Node> nodes;                         // in topological order
  std::vector<std::vector<std::int32_t>> node_of;  // [rank][position]; a pair has one node
  // The predecessors of node n are before[i] for i from first_before[n] to first_before[n + 1] - 1.
  // If one is on the same rank, it comes first.
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

// [node] A pair takes overlapped_s().
std::vector<double> node_durations(const ScheduleGraph& graph, const Schedule& schedule,
                                   const std::vector<StageCost>& costs,
                                   const MessageTimes& messages);

struct GraphTimes {
  std::vector<double> start_s;  // [node]
  std::vector<double> end_s;
};
// Starts every node when its last predecessor ends. Overwrites `times`.
void play(const ScheduleGraph& graph, const std::vector<double>& duration_s, GraphTimes& times);

// Returns the predecessor whose end determines the node's start; -1: there is none. Among equal
// ends one on the same rank is preferred.
std::int32_t last_before(const ScheduleGraph& graph, const GraphTimes& times, std::int32_t node);

}  // namespace windtunnel
