// The automatic schedules of Zero Bubble (arXiv 2401.10241, section 3.1). Micro-batch by
// micro-batch every rank takes a forward and an input gradient; weight gradients go where the rank
// would wait or runs out of memory. Three choices that no rule settles are tried both ways. The
// order with the shortest longest stage wins, as in the authors' code
// (github.com/sail-sg/zero-bubble-pipeline-parallelism, scheduler/zb.py, 064369d6).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/base/error.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {
namespace {

// Times are planned in whole ticks. Times that are equal on paper are then equal here, so the order
// does not depend on the rounding of sums.
using Ticks = std::int64_t;
constexpr double kTicksOfLongest = 1e9;

// Rounding errors in sums of activations must not count as exceeding the limit.
constexpr double kMemorySlack = 1e-9;

struct RankCost {
  Ticks forward = 0;
  Ticks input = 0;
  Ticks weight = 0;
  double activation = 0;
  double weight_activation = 0;
  double memory_limit = 0;
};

struct PlanInputs {
  int microbatches = 0;
  Ticks message = 0;
  std::vector<RankCost> ranks;
};

struct Choices {
  bool wait_for_first_backward = false;  // no warm-up forward that would delay the first backward
  bool backward_first = false;           // skip a forward that would delay the next rank's backward
  bool fill_small_gaps = false;          // also fill gaps that do not lengthen the worst bubble
};

// What one rank has run so far.
struct RankPlan {
  int forwards = 0;
  int inputs = 0;
  int weights = 0;
  Ticks work = 0;  // of all its actions
  Ticks start = 0;
  Ticks now = 0;
  Ticks waited = 0;
  double memory = 0;
  std::vector<ActionKind> kinds;
  // [micro-batch] ends of its passes
  std::vector<Ticks> forward_end;
  std::vector<Ticks> input_end;
};

class Planner {
 public:
  // `shortest`: an order whose longest stage is no shorter is of no use.
  Planner(const PlanInputs& inputs, const Choices& choices, Ticks shortest)
      : inputs_(inputs),
        choices_(choices),
        shortest_(shortest),
        last_(static_cast<int>(inputs.ranks.size()) - 1),
        ranks_(inputs.ranks.size()),
        wanted_(inputs.ranks.size()) {
    const std::size_t microbatches = inputs.microbatches;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      RankPlan& rank = ranks_[r];
      const RankCost& cost = inputs.ranks[r];
      rank.work = inputs.microbatches * (cost.forward + cost.input + cost.weight);
      lost_ = lost_ || rank.work >= shortest;
      rank.kinds.reserve(3 * microbatches);
      rank.forward_end.resize(microbatches);
      rank.input_end.resize(microbatches);
    }
  }

  // Returns false as soon as the work of a rank and what it has waited show that the order is of no
  // use.
  bool run() {
    if (!lost_) warm_up();
    for (int i = 1; i < inputs_.microbatches && !lost_; ++i) {
      choose_forwards();
      for (int r = 0; r <= last_; ++r) {
        if (wanted_[r] == 0) continue;
        make_room(r);
        if (r > 0) fill_gap(r, forward_ready(r));
        put_forward(r);
      }
      for (int r = last_; r >= 0; --r) {
        if (r < last_) fill_gap(r, input_ready(r));
        // No rank waits for rank 0, so the weight gradients of rank 0 run as early as possible.
        if (r == 0 && ranks_[r].forwards == inputs_.microbatches) finish_weights(r);
        put_input(r);
      }
    }
    if (lost_) return false;
    for (int r = 0; r <= last_; ++r) {
      while (ranks_[r].weights < inputs_.microbatches) put_weight(r);
    }
    return true;
  }

  Ticks longest_stage() const {
    Ticks longest = 0;
    for (const RankPlan& rank : ranks_) longest = std::max(longest, rank.now - rank.start);
    return longest;
  }

  std::vector<ActionKind> take_kinds(int rank) { return std::move(ranks_[rank].kinds); }

 private:
  // These return when the inputs of the rank's next micro-batch are ready. The first rank has no
  // forward input, the last no backward input.
  Ticks forward_ready(int r) const {
    return ranks_[r - 1].forward_end[ranks_[r].forwards] + inputs_.message;
  }
  Ticks input_ready(int r) const {
    return ranks_[r + 1].input_end[ranks_[r].inputs] + inputs_.message;
  }

  void wait(RankPlan& rank, Ticks until) {
    if (until <= rank.now) return;
    rank.waited += until - rank.now;
    worst_wait_ = std::max(worst_wait_, rank.waited);
    lost_ = lost_ || rank.work + rank.waited >= shortest_;
    rank.now = until;
  }

  void put_forward(int r) {
    RankPlan& rank = ranks_[r];
    const Ticks ready = r > 0 ? forward_ready(r) : 0;
    if (rank.forwards > 0) {
      wait(rank, ready);
    } else {
      rank.start = rank.now = ready;
    }
    rank.now += inputs_.ranks[r].forward;
    rank.memory += inputs_.ranks[r].activation;
    rank.forward_end[rank.forwards++] = rank.now;
    rank.kinds.push_back(ActionKind::forward);
  }

  void put_input(int r) {
    RankPlan& rank = ranks_[r];
    if (r < last_) wait(rank, input_ready(r));
    const RankCost& cost = inputs_.ranks[r];
    while (has_weight(r) && !fits(r, rank.memory + left_by_input(r))) put_weight(r);
    rank.now += cost.input;
    rank.memory -= cost.activation - cost.weight_activation;
    rank.input_end[rank.inputs++] = rank.now;
    rank.kinds.push_back(ActionKind::backward_input);
  }

  void put_weight(int r) {
    RankPlan& rank = ranks_[r];
    rank.now += inputs_.ranks[r].weight;
    rank.memory -= inputs_.ranks[r].weight_activation;
    ++rank.weights;
    rank.kinds.push_back(ActionKind::backward_weight);
  }

  bool fits(int r, double memory) const {
    return memory <= inputs_.ranks[r].memory_limit * (1 + kMemorySlack);
  }

  // Returns the memory that an input gradient recomputes and leaves for the weight gradient, in
  // addition to what the forward kept.
  double left_by_input(int r) const {
    return std::max(0.0, inputs_.ranks[r].weight_activation - inputs_.ranks[r].activation);
  }

  bool has_weight(int r) const { return ranks_[r].weights < ranks_[r].inputs; }

  void finish_weights(int r) {
    while (has_weight(r)) put_weight(r);
  }

  // Makes room for the next forward. A rank never holds more micro-batches than after its warm-up,
  // so its pending weight gradients free enough memory.
  void make_room(int r) {
    while (!fits(r, ranks_[r].memory + inputs_.ranks[r].activation)) {
      CHECK(has_weight(r), "rank {} has no weight gradient to make room", r);
      put_weight(r);
    }
  }

  // Runs weight gradients while the rank would wait. Runs one more, which delays the rank, if the
  // gap would otherwise make the rank's bubble the largest.
  void fill_gap(int r, Ticks until) {
    RankPlan& rank = ranks_[r];
    while (has_weight(r) && rank.now + inputs_.ranks[r].weight <= until) put_weight(r);
    if (!has_weight(r) || rank.now >= until) return;
    const bool small = until - rank.now <= worst_wait_ - rank.waited;
    if (!small || choices_.fill_small_gaps) put_weight(r);
  }

  // Runs as many forwards as memory allows until the first input gradient arrives. Each rank runs
  // at least one more than the next rank.
  void warm_up() {
    for (int r = 0; r <= last_; ++r) put_forward(r);
    wanted_[last_] = 0;
    Ticks input_end = ranks_[last_].now + inputs_.ranks[last_].input;
    for (int r = last_ - 1; r >= 0; --r) {
      const RankCost& cost = inputs_.ranks[r];
      const Ticks ready = input_end + inputs_.message;
      double memory = ranks_[r].memory + cost.activation;
      Ticks now = ranks_[r].now;
      wanted_[r] = 0;
      while (1 + wanted_[r] < inputs_.microbatches && fits(r, memory + left_by_input(r)) &&
             (choices_.wait_for_first_backward ? now + cost.forward <= ready : now < ready)) {
        memory += cost.activation;
        now += cost.forward;
        ++wanted_[r];
      }
      input_end = std::max(now, ready) + cost.input;
    }
    for (int r = 1; r <= last_; ++r) {
      if (1 + wanted_[r - 1] == inputs_.microbatches) continue;
      wanted_[r] = std::min(wanted_[r], std::max(0, wanted_[r - 1] - 1));
    }
    for (int r = 0; r <= last_; ++r) {
      for (int k = 0; k < wanted_[r]; ++k) put_forward(r);
    }
    for (int r = last_; r >= 0; --r) put_input(r);
  }

  // Whether the rank's next forward can wait until the next rank has run the previous forward and
  // an input gradient.
  bool can_skip_forward(int r) const {
    const RankPlan& rank = ranks_[r];
    const RankPlan& next = ranks_[r + 1];
    if (rank.forwards < next.forwards + 2) return false;
    const RankCost& next_cost = inputs_.ranks[r + 1];
    const Ticks next_free = next.now + next_cost.forward + next_cost.input + inputs_.message;
    if (rank.now >= next_free) return true;
    const RankCost& cost = inputs_.ranks[r];
    Ticks end = rank.now + cost.forward;
    double memory = rank.memory + cost.activation;
    for (int w = rank.weights; w < rank.inputs && !fits(r, memory); ++w) {
      end += cost.weight;
      memory -= cost.weight_activation;
    }
    return end > next_free && next_free - rank.now <= worst_wait_ - rank.waited;
  }

  void choose_forwards() {
    for (int r = last_; r >= 0; --r) {
      const bool left = ranks_[r].forwards < inputs_.microbatches;
      const bool skip = choices_.backward_first && r < last_ && left && can_skip_forward(r);
      wanted_[r] = left && !skip ? 1 : 0;
      // A rank skips its forward if the next rank does.
      if (r < last_) wanted_[r] = std::min(wanted_[r], wanted_[r + 1]);
    }
  }

  const PlanInputs& inputs_;
  const Choices choices_;
  const Ticks shortest_;
  const int last_;
  Ticks worst_wait_ = 0;
  bool lost_ = false;
  std::vector<RankPlan> ranks_;
  std::vector<int> wanted_;  // [rank] number of forwards to put next
};

PlanInputs plan_inputs(const ScheduleRequest& request, const std::vector<StageCost>& costs,
                       const std::vector<double>& limits) {
  double longest_s = request.message_s;
  for (const StageCost& cost : costs) {
    longest_s = std::max({longest_s, cost.forward_s, cost.backward_input_s + cost.recompute_s,
                          cost.backward_weight_s});
  }
  const double per_s = longest_s > 0 ? kTicksOfLongest / longest_s : 0;
  const auto ticks = [&](double seconds) {
    return static_cast<Ticks>(std::llround(seconds * per_s));
  };
  PlanInputs inputs{request.microbatches, ticks(request.message_s), {}};
  for (int r = 0; r < request.ranks; ++r) {
    const StageCost& cost = costs[r];
    inputs.ranks.push_back({ticks(cost.forward_s), ticks(cost.backward_input_s + cost.recompute_s),
                            ticks(cost.backward_weight_s), cost.activation, cost.weight_activation,
                            limits[r]});
  }
  return inputs;
}

Schedule best_planned(std::string_view name, const ScheduleRequest& request,
                      const PlanInputs& inputs) {
  Schedule schedule = empty_schedule(name, request);
  Ticks shortest = std::numeric_limits<Ticks>::max();
  std::vector<std::vector<ActionKind>> kinds(request.ranks);
  for (const bool wait : {true, false}) {
    for (const bool backward_first : {true, false}) {
      for (const bool fill_small_gaps : {true, false}) {
        Planner planner(inputs, {wait, backward_first, fill_small_gaps}, shortest);
        if (!planner.run()) continue;
        shortest = planner.longest_stage();
        for (int r = 0; r < request.ranks; ++r) kinds[r] = planner.take_kinds(r);
      }
    }
  }
  for (int r = 0; r < request.ranks; ++r) {
    int forwards = 0;
    int inputs_done = 0;
    int weights = 0;
    schedule.actions[r].reserve(kinds[r].size());
    for (const ActionKind kind : kinds[r]) {
      int& count = kind == ActionKind::forward          ? forwards
                   : kind == ActionKind::backward_input ? inputs_done
                                                        : weights;
      schedule.actions[r].push_back({kind, r, count++});
    }
  }
  return schedule;
}

// Returns the planned order, or a handcrafted one if this is better for these times and fits.
// `limits`: [rank] most activations.
Schedule generate_within(std::string_view name, const ScheduleRequest& request,
                         const std::vector<StageCost>& costs, const std::vector<double>& limits) {
  for (int r = 0; r < request.ranks; ++r) {
    if (costs[r].activation <= limits[r] * (1 + kMemorySlack)) continue;
    throw Error::about({"schedule.memory_limit", "batch.global", "schedule"},
                       "schedule '{}': one micro-batch keeps activations of {:.4g} on rank {}, but "
                       "the memory limit is {:.4g}",
                       name, costs[r].activation, r, limits[r]);
  }
  Schedule best = best_planned(name, request, plan_inputs(request, costs, limits));
  double shortest_s = evaluate_schedule(best, costs, request.message_s).longest_stage_s;
  for (const auto generate : {generate_zb_h1, generate_zb_h2}) {
    Schedule other = generate(request);
    const std::vector<double> peaks = peak_activations(other, costs);
    bool fits = true;
    for (int r = 0; r < request.ranks; ++r) {
      fits = fits && peaks[r] <= limits[r] * (1 + kMemorySlack);
    }
    if (!fits) continue;
    const double longest_s = evaluate_schedule(other, costs, request.message_s).longest_stage_s;
    if (longest_s >= shortest_s) continue;
    shortest_s = longest_s;
    best.actions = std::move(other.actions);
  }
  return best;
}

// Generates with room for `depth` times the activations that 1F1B keeps on its first rank.
Schedule generate_of_depth(std::string_view name, const ScheduleRequest& request, int depth) {
  require_chunks(name, request, 1, 1);
  const std::vector<StageCost> costs = costs_of(request);
  std::vector<double> limits;
  for (const StageCost& cost : costs) limits.push_back(depth * request.ranks * cost.activation);
  return generate_within(name, request, costs, limits);
}

}  // namespace

Schedule generate_zb_1p(const ScheduleRequest& request) {
  return generate_of_depth("zb-1p", request, 1);
}

Schedule generate_zb_2p(const ScheduleRequest& request) {
  return generate_of_depth("zb-2p", request, 2);
}

Schedule generate_zb_auto(const ScheduleRequest& request) {
  require_chunks("zb-auto", request, 1, 1);
  const double limit =
      request.memory_limit > 0 ? request.memory_limit : std::numeric_limits<double>::infinity();
  return generate_within("zb-auto", request, costs_of(request),
                         std::vector<double>(request.ranks, limit));
}

}  // namespace windtunnel
