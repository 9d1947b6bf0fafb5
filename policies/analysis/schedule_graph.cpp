#include "policies/analysis/schedule_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "models/base/error.hpp"
#include "policies/evaluation/schedule_stages.hpp"

namespace windtunnel {
namespace {

const StageCost& cost_of(const Schedule& schedule, const std::vector<StageCost>& costs,
                         const Action& action) {
  return costs[schedule.model_stage(action.stage) * schedule.slices +
               action.unit % schedule.slices];
}

std::size_t cell_of(const Schedule& schedule, const Action& action) {
  return static_cast<std::size_t>(action.stage) * schedule.slices + action.unit % schedule.slices;
}

// Collects nodes in any order, then sorts them.
class GraphBuilder {
 public:
  GraphBuilder(const Schedule& schedule, const std::vector<StageTimes>& stages, Sends sends)
      : schedule_(schedule),
        stages_(stages),
        sends_(sends),
        units_(schedule.units()),
        gradients_(static_cast<std::size_t>(schedule.stages()) * units_),
        maker_(2 * gradients_, -1),
        sent_(schedule.ranks, -1),
        outgoing_(schedule.ranks) {}

  ScheduleGraph build() {
    add_actions();
    add_messages();
    add_waits();
    return sorted();
  }

 private:
  // An action's activation has this index, and its input gradient has the same.
  std::size_t activation_of(const Action& action) const {
    return static_cast<std::size_t>(action.stage) * units_ + action.unit;
  }

  const StageTimes& stage_of(const Action& action) const {
    return stages_[cell_of(schedule_, action)];
  }

  std::int32_t add_node(const ScheduleGraph::Node& node) {
    graph_.nodes.push_back(node);
    return static_cast<std::int32_t>(graph_.nodes.size() - 1);
  }

  void add_actions() {
    graph_.node_of.resize(schedule_.ranks);
    for (int rank = 0; rank < schedule_.ranks; ++rank) {
      const auto& actions = schedule_.actions[rank];
      graph_.node_of[rank].reserve(actions.size());
      for (std::size_t i = 0; i < actions.size(); ++i) {
        const bool second = i > 0 && actions[i - 1].with_next;
        const std::int32_t node = second ? graph_.node_of[rank].back()
                                         : add_node({rank, static_cast<std::int32_t>(i), -1});
        graph_.node_of[rank].push_back(node);
        if (actions[i].kind == ActionKind::forward) maker_[activation_of(actions[i])] = node;
        if (makes_input_gradient(actions[i].kind))
          maker_[gradients_ + activation_of(actions[i])] = node;
      }
    }
  }

  void add_wait(std::int32_t node, std::int32_t on) {
    CHECK(on >= 0, "nothing makes what rank {} waits for at its action {}", graph_.nodes[node].rank,
          graph_.nodes[node].position + 1);
    waits_.emplace_back(node, on);
  }

  // Adds the order of each rank, and its messages. The maker of a result that goes to another rank
  // is the message that carries it.
  void add_messages() {
    for (int rank = 0; rank < schedule_.ranks; ++rank) {
      const auto& actions = schedule_.actions[rank];
      std::int32_t previous = -1;
      for (std::size_t i = 0; i < actions.size(); ++i) {
        const std::int32_t node = graph_.node_of[rank][i];
        if (node != previous) add_order(rank, node, previous);
        previous = node;
        const StageTimes& stage = stage_of(actions[i]);
        const std::size_t activation = activation_of(actions[i]);
        const auto position = static_cast<std::int32_t>(i);
        if (actions[i].kind == ActionKind::forward) {
          send(node, {rank, position, stage.next_rank}, activation, stage.delay_to_next_s);
        } else if (makes_input_gradient(actions[i].kind)) {
          send(node, {rank, position, stage.previous_rank}, gradients_ + activation,
               stage.delay_to_previous_s);
        }
      }
    }
  }

  void add_order(int rank, std::int32_t node, std::int32_t previous) {
    if (previous >= 0) add_wait(node, previous);
    // A synchronous message waits only for the sender and the receiver, a blocking one also for the
    // messages before it.
    if (sends_ == Sends::synchronous) {
      for (const std::int32_t message : outgoing_[rank]) add_wait(node, message);
      outgoing_[rank].clear();
    } else if (sends_ == Sends::blocking && sent_[rank] >= 0) {
      add_wait(node, sent_[rank]);
    }
  }

  void send(std::int32_t maker, const ScheduleGraph::Node& message, std::size_t result,
            double seconds) {
    if (message.receiver < 0 || message.receiver == message.rank) return;
    const std::int32_t node = add_node(message);
    add_wait(node, maker);
    maker_[result] = node;
    if (sends_ == Sends::synchronous) {
      outgoing_[message.rank].push_back(node);
    } else if (seconds > 0) {  // messages without time do not queue
      std::int32_t& sent = sent_[message.rank];
      if (sent >= 0) add_wait(node, sent);
      sent = node;
    }
  }

  void add_waits() {
    for (int rank = 0; rank < schedule_.ranks; ++rank) {
      const auto& actions = schedule_.actions[rank];
      std::int32_t previous = -1;  // the node before that of the action, on the same rank
      for (std::size_t i = 0; i < actions.size(); ++i) {
        const std::int32_t node = graph_.node_of[rank][i];
        if (i > 0 && graph_.node_of[rank][i - 1] != node) previous = graph_.node_of[rank][i - 1];
        const StageTimes& stage = stage_of(actions[i]);
        const std::size_t activation = activation_of(actions[i]);
        if (actions[i].kind == ActionKind::forward && stage.previous_rank >= 0) {
          add_input(node, maker_[activation - units_], previous);
        } else if (makes_input_gradient(actions[i].kind) && stage.next_rank >= 0) {
          add_input(node, maker_[gradients_ + activation + units_], previous);
        }
      }
    }
  }

  // `previous` is the node before this one on its rank; -1: there is none.
  void add_input(std::int32_t node, std::int32_t input, std::int32_t previous) {
    add_wait(node, input);
    if (sends_ == Sends::synchronous && graph_.nodes[input].is_message() && previous >= 0) {
      add_wait(input, previous);
    }
  }

  // Orders the nodes by Kahn's algorithm and numbers them anew.
  ScheduleGraph sorted() {
    const std::size_t count = graph_.nodes.size();
    std::vector<std::int32_t> first_after(count + 1, 0);
    std::vector<std::int32_t> waits(count, 0);
    for (const auto& [node, on] : waits_) {
      ++first_after[on + 1];
      ++waits[node];
    }
    std::partial_sum(first_after.begin(), first_after.end(), first_after.begin());
    std::vector<std::int32_t> after(waits_.size());
    std::vector<std::int32_t> filled = first_after;
    for (const auto& [node, on] : waits_) after[filled[on]++] = node;

    std::vector<std::int32_t> order;
    order.reserve(count);
    std::vector<std::int32_t> open = waits;
    for (std::size_t n = 0; n < count; ++n) {
      if (open[n] == 0) order.push_back(static_cast<std::int32_t>(n));
    }
    for (std::size_t next = 0; next < order.size(); ++next) {
      for (std::int32_t i = first_after[order[next]]; i < first_after[order[next] + 1]; ++i) {
        if (--open[after[i]] == 0) order.push_back(after[i]);
      }
    }
    if (order.size() != count) {
      throw Error(fmt::format("schedule '{}' deadlocks", schedule_.name));
    }
    return renumbered(order, waits);
  }

  ScheduleGraph renumbered(const std::vector<std::int32_t>& order,
                           const std::vector<std::int32_t>& waits) {
    ScheduleGraph result;
    std::vector<std::int32_t> number(order.size());
    result.nodes.reserve(order.size());
    result.first_before.push_back(0);
    for (const std::int32_t old : order) {
      number[old] = static_cast<std::int32_t>(result.nodes.size());
      result.nodes.push_back(graph_.nodes[old]);
      result.first_before.push_back(result.first_before.back() + waits[old]);
    }
    // Waits for a node of the same rank were added first, so that node comes first in `before`.
    result.before.resize(waits_.size());
    std::vector<std::int32_t> filled = result.first_before;
    for (const auto& [node, on] : waits_) result.before[filled[number[node]]++] = number[on];
    result.node_of = std::move(graph_.node_of);
    for (auto& rank : result.node_of) {
      for (std::int32_t& node : rank) node = number[node];
    }
    return result;
  }

  const Schedule& schedule_;
  const std::vector<StageTimes>& stages_;
  const Sends sends_;
  const std::size_t units_;
  const std::size_t gradients_;      // number of the first gradient
  std::vector<std::int32_t> maker_;  // [result] the node that makes it, an action or a message
  std::vector<std::int32_t> sent_;   // [rank] node of its last message
  // [rank] nodes of the messages of its last action, if sends are synchronous
  std::vector<std::vector<std::int32_t>> outgoing_;
  std::vector<std::pair<std::int32_t, std::int32_t>> waits_;  // {node, the node that it waits for}
  ScheduleGraph graph_;
};

}  // namespace

WorkSeconds work_of(const Schedule& schedule, const std::vector<StageCost>& costs,
                    const Action& action) {
  const StageCost& cost = cost_of(schedule, costs, action);
  const double within_s = schedule.explicit_recompute ? 0 : cost.recompute_s;
  switch (action.kind) {
    case ActionKind::forward:
      return {cost.forward_s, 0, 0, 0};
    case ActionKind::backward:
      return {0, cost.backward_input_s, cost.backward_weight_s, within_s};
    case ActionKind::backward_input:
      return {0, cost.backward_input_s, 0, within_s};
    case ActionKind::backward_weight:
      return {0, 0, cost.backward_weight_s, 0};
    case ActionKind::recompute:
      return {0, 0, 0, cost.recompute_s};
    default:
      return {};
  }
}

ScheduleGraph schedule_graph(const Schedule& schedule, const std::vector<StageCost>& costs,
                             const Messages& messages) {
  const std::vector<StageTimes> stages = stage_times(schedule, costs, messages.times, {});
  return GraphBuilder(schedule, stages, messages.sends).build();
}

std::vector<double> node_durations(const ScheduleGraph& graph, const Schedule& schedule,
                                   const std::vector<StageCost>& costs,
                                   const MessageTimes& messages) {
  const std::vector<StageTimes> stages = stage_times(schedule, costs, messages, {});
  std::vector<double> duration_s;
  duration_s.reserve(graph.nodes.size());
  for (const ScheduleGraph::Node& node : graph.nodes) {
    const Action& action = schedule.actions[node.rank][node.position];
    const StageTimes& stage = stages[cell_of(schedule, action)];
    if (node.is_message()) {
      duration_s.push_back(action.kind == ActionKind::forward ? stage.delay_to_next_s
                                                              : stage.delay_to_previous_s);
    } else if (action.with_next) {
      const Action& second = schedule.actions[node.rank][node.position + 1];
      duration_s.push_back(overlapped_s(cost_of(schedule, costs, action),
                                        cost_of(schedule, costs, second),
                                        !schedule.explicit_recompute));
    } else {
      duration_s.push_back(stage.of(action.kind));
    }
  }
  return duration_s;
}

void play(const ScheduleGraph& graph, const std::vector<double>& duration_s, GraphTimes& times) {
  const std::size_t count = graph.nodes.size();
  times.start_s.resize(count);
  times.end_s.resize(count);
  const std::int32_t* on = graph.before.data();
  for (std::size_t n = 0; n < count; ++n) {
    double start_s = 0;
    for (const std::int32_t* last = graph.before.data() + graph.first_before[n + 1]; on != last;
         ++on) {
      start_s = std::max(start_s, times.end_s[*on]);
    }
    times.start_s[n] = start_s;
    times.end_s[n] = start_s + duration_s[n];
  }
}

std::int32_t last_before(const ScheduleGraph& graph, const GraphTimes& times, std::int32_t node) {
  for (const std::int32_t on : graph.waits_for(node)) {
    if (times.end_s[on] == times.start_s[node]) return on;
  }
  return -1;
}

}  // namespace windtunnel
