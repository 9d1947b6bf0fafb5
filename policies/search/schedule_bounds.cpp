#include "policies/search/schedule_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"
#include "policies/search/split_order.hpp"

namespace windtunnel {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
// Memory limits are multiples of activations. Sums of activations equal them except for rounding.

double whole_part(double value) {
  return std::floor(value * (1 + kSlack) + kSlack);
}

struct Ways {
  std::vector<double> forward_s;  // [stage] from the start of F of stage 0 to that of F here
  std::vector<double> back_s;     // [stage] from the end of I here to the end of I of stage 0
  double turn_s = 0;              // from the start of F of stage 0 to the end of F of the last one
};

double input_s(const StageCost& cost) {
  return cost.backward_input_s + cost.recompute_s;
}

Ways ways_of(const std::vector<StageCost>& costs, const std::vector<int>& rank_of_stage,
             double message_s) {
  const size_t stages = rank_of_stage.size();
  Ways ways{std::vector<double>(stages), std::vector<double>(stages), 0};
  for (size_t s = 0; s + 1 < stages; ++s) {
    const double delay_s = rank_of_stage[s] == rank_of_stage[s + 1] ? 0 : message_s;
    ways.forward_s[s + 1] = ways.forward_s[s] + costs[s].forward_s + delay_s;
    ways.back_s[s + 1] = ways.back_s[s] + input_s(costs[s]) + delay_s;
  }
  ways.turn_s = ways.forward_s.back() + costs.back().forward_s;
  return ways;
}

// Returns the time from the start of a unit's forward in `from` to that of its I in `to`.
double way_through_s(const Ways& ways, const std::vector<StageCost>& costs, int from, int to) {
  const int last = static_cast<int>(costs.size()) - 1;
  const double down_s = ways.turn_s - ways.forward_s[from];
  if (to == last) return down_s;
  // The way back leads from the end of the last stage's input gradient to the start of `to`'s.
  return down_s + input_s(costs[last]) + ways.back_s[last] - ways.back_s[to] - input_s(costs[to]);
}

// What a rank computes for a unit in all its chunks.
struct RankLoad {
  int first_stage = 0;
  int last_stage = 0;
  int chunks = 0;
  bool uniform = true;  // all chunks cost the same
  double forward_s = 0;
  double input_s = 0;
  double weight_s = 0;
  double activation = 0;
  StageCost any;  // any chunk; if uniform, each of them
  // The longest seconds per unit of memory, over the chunks.
  double forwards_rate = 0;
  double backwards_rate = 0;
  double weights_rate = 0;
};

double rate(double work_s, double memory) {
  return memory > 0 ? work_s / memory : work_s > 0 ? kNoLimit : 0;
}

RankLoad load_of(const std::vector<StageCost>& costs, const std::vector<int>& rank_of_stage,
                 int rank) {
  RankLoad load;
  for (int s = 0; s < static_cast<int>(rank_of_stage.size()); ++s) {
    if (rank_of_stage[s] != rank) continue;
    const StageCost& cost = costs[s];
    if (load.chunks == 0) {
      load.first_stage = s;
      load.any = cost;
    }
    load.last_stage = s;
    ++load.chunks;
    load.uniform = load.uniform && cost.forward_s == load.any.forward_s &&
                   input_s(cost) == input_s(load.any) &&
                   cost.backward_weight_s == load.any.backward_weight_s &&
                   cost.activation == load.any.activation &&
                   cost.weight_activation == load.any.weight_activation;
    load.forward_s += cost.forward_s;
    load.input_s += input_s(cost);
    load.weight_s += cost.backward_weight_s;
    load.activation += cost.activation;
    const double backward_s = input_s(cost) + cost.backward_weight_s;
    load.forwards_rate = std::max(load.forwards_rate, rate(cost.forward_s, cost.activation));
    load.weights_rate =
        std::max(load.weights_rate, rate(cost.backward_weight_s, cost.weight_activation));
    load.backwards_rate = std::max(load.backwards_rate, rate(backward_s, cost.activation));
  }
  load.backwards_rate = std::max(load.backwards_rate, load.weights_rate);
  return load;
}

// Returns the longest total time of forwards whose activations fit in memory at once.
double most_forwards_s(const RankLoad& load, int units, double limit) {
  const double all_s = units * load.forward_s;
  if (limit == kNoLimit || load.forwards_rate == kNoLimit) return all_s;
  if (!load.uniform) return std::min(all_s, load.forwards_rate * limit);
  return std::min(all_s, whole_part(limit / load.any.activation) * load.any.forward_s);
}

// Returns the longest total time of backwards and weight gradients that can be deferred at once
// within `memory`. They include at most `most` backwards, each of one stage.
double most_waiting_s(const RankLoad& load, double most, double memory) {
  const double all_s = most / load.chunks * (load.input_s + load.weight_s);
  if (memory == kNoLimit || load.backwards_rate == kNoLimit) return all_s;
  if (memory <= 0) return 0;
  if (!load.uniform) return std::min(all_s, load.backwards_rate * memory);
  const double backward_s = input_s(load.any) + load.any.backward_weight_s;
  double best_s = 0;
  for (double full = 0; full <= most; ++full) {
    const double left = memory * (1 + kSlack) - full * load.any.activation;
    if (left < 0) break;
    double weights = most - full;
    if (load.any.weight_activation > 0) {
      weights = std::min(weights, whole_part(left / load.any.weight_activation));
    }
    best_s = std::max(best_s, full * backward_s + weights * load.any.backward_weight_s);
  }
  return std::min(all_s, best_s);
}

// Returns the least idle time that the two waits cause on a rank.
double idle_s(const RankLoad& load, const Ways& ways, const std::vector<StageCost>& costs,
              int units, double limit) {
  const double first_wait_s = way_through_s(ways, costs, load.first_stage, load.last_stage);
  const double last_wait_s = way_through_s(ways, costs, load.last_stage, load.last_stage);
  const double first_s = std::max(0.0, first_wait_s - most_forwards_s(load, units, limit));
  // The unit of the last forward still has all its activations, because none of its backwards runs
  // during the wait.
  const double waiting_s =
      most_waiting_s(load, double(units - 1) * load.chunks, limit - load.activation);
  const double second_s = std::max(0.0, last_wait_s - costs[load.last_stage].forward_s - waiting_s);
  const double both_s = first_s + second_s;
  // The waits are disjoint unless all forwards precede the first input gradient.
  if (limit < units * load.activation * (1 - kSlack)) return both_s;
  return std::min(both_s, std::max(0.0, first_wait_s - units * load.forward_s));
}

// Returns the time of the weight gradients that must precede the rank's last input gradient,
// because memory cannot hold their data.
double undeferred_s(const RankLoad& load, const std::vector<StageCost>& costs, int units,
                    double limit) {
  const double all_s = units * load.weight_s;
  const StageCost& last = costs[load.first_stage];
  const double memory = limit - last.activation;
  if (memory == kNoLimit || load.weights_rate == kNoLimit) return 0;
  double deferred_s = last.backward_weight_s;
  if (!load.uniform) {
    deferred_s += load.weights_rate * std::max(0.0, memory);
  } else if (load.any.weight_activation > 0) {
    deferred_s +=
        std::max(0.0, whole_part(memory / load.any.weight_activation)) * last.backward_weight_s;
  } else {
    return 0;
  }
  return std::max(0.0, all_s - deferred_s);
}

// Returns the number of messages that a rank sends per micro-batch.
double messages_of(const std::vector<int>& rank_of_stage, int rank) {
  int messages = 0;
  for (std::size_t stage = 1; stage < rank_of_stage.size(); ++stage) {
    const int from = rank_of_stage[stage - 1];
    const int to = rank_of_stage[stage];
    if (from != to) messages += (from == rank) + (to == rank);  // activations; gradients
  }
  return messages;
}

}  // namespace

ScheduleBound schedule_bound(const ScheduleRequest& request,
                             const std::vector<int>& rank_of_stage) {
  CHECK(rank_of_stage.size() == static_cast<size_t>(request.ranks) * request.chunks,
        "{} stages for {} ranks of {} chunks", rank_of_stage.size(), request.ranks, request.chunks);
  const std::vector<StageCost> costs = costs_of(request);
  const int units = request.microbatches;
  const double limit = request.memory_limit > 0 ? request.memory_limit : kNoLimit;
  const Ways ways = ways_of(costs, rank_of_stage, request.message_s);
  struct Rank {
    RankLoad load;
    double own_s = 0;     // passes and waits
    double inputs_s = 0;  // from the first forward to the end of the last input gradient
  };
  std::vector<Rank> ranks;
  for (int rank = 0; rank < request.ranks; ++rank) {
    Rank& at = ranks.emplace_back();
    at.load = load_of(costs, rank_of_stage, rank);
    const double waits_s = idle_s(at.load, ways, costs, units, limit);
    const double inputs_s = units * (at.load.forward_s + at.load.input_s);
    at.own_s = inputs_s + units * at.load.weight_s + waits_s;
    at.inputs_s = inputs_s + undeferred_s(at.load, costs, units, limit) + waits_s;
  }
  ScheduleBound bound;
  const auto raise = [](double& best_s, std::string& because, double value_s, std::string why) {
    if (value_s <= best_s * (1 + kSlack)) return;
    best_s = value_s;
    because = std::move(why);
  };
  const auto chain_s = [&](int from, const Rank& through) {
    const int to = through.load.first_stage;
    return ways.forward_s[to] - ways.forward_s[from] + through.inputs_s + ways.back_s[to] -
           ways.back_s[from] + costs[from].backward_weight_s;
  };
  for (int r = 0; r < request.ranks; ++r) {
    const RankLoad& load = ranks[r].load;
    const double work_s = units * (load.forward_s + load.input_s + load.weight_s);
    raise(bound.longest_stage_s, bound.longest_stage_because, work_s,
          fmt::format("work of rank {}", r));
    raise(bound.longest_stage_s, bound.longest_stage_because, ranks[r].own_s,
          fmt::format("work of rank {} and its waits for memory", r));
    raise(bound.makespan_s, bound.makespan_because,
          ways.forward_s[load.first_stage] + ranks[r].own_s,
          fmt::format(
              "time until the first micro-batch reaches rank {}, its work and its waits for memory",
              r));
  }
  for (int r = 0; r < request.ranks; ++r) {
    const int from = ranks[r].load.first_stage;
    for (int q = 0; q < request.ranks; ++q) {
      if (ranks[q].load.first_stage < from) continue;
      raise(bound.longest_stage_s, bound.longest_stage_because, chain_s(from, ranks[q]),
            fmt::format("path from rank {} through rank {} and back", r, q));
    }
  }
  for (int q = 0; q < request.ranks; ++q) {
    raise(bound.makespan_s, bound.makespan_because, chain_s(0, ranks[q]),
          fmt::format("path through rank {} and back", q));
    // A rank computes a forward pass before its first message, and another rank computes after its
    // last one.
    const int first = ranks[q].load.first_stage;
    raise(bound.makespan_s, bound.makespan_because,
          ways.forward_s[first] + costs[first].forward_s +
              units * messages_of(rank_of_stage, q) * request.port_s,
          fmt::format("messages of rank {} through its port", q));
  }
  return bound;
}

}  // namespace windtunnel
