#include "policies/search/split_order.hpp"

#include <algorithm>
#include <limits>

#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {
namespace {

constexpr double kPending = -1;

}  // namespace

SplitOrder split_order(const Schedule& schedule) {
  SplitOrder order{schedule.rank_of_stage, std::vector<SplitRank>(schedule.ranks)};
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    SplitRank& at = order.ranks[rank];
    for (const Action& action : schedule.actions[rank]) {
      switch (action.kind) {
        case ActionKind::forward:
          at.forwards.push_back({action.stage, action.unit});
          break;
        case ActionKind::backward:
        case ActionKind::backward_input:
          at.backwards.push_back({action.stage, action.unit});
          at.ahead.push_back(static_cast<int>(at.forwards.size()));
          break;
        default:
          break;
      }
    }
  }
  return order;
}

WeightFiller::WeightFiller(const ScheduleRequest& request)
    : request_(request),
      limit_(request.memory_limit > 0 ? request.memory_limit * (1 + kSlack)
                                      : std::numeric_limits<double>::infinity()) {
  for (const StageCost& cost : costs_of(request)) {
    stages_.push_back({cost.forward_s, cost.backward_input_s + cost.recompute_s,
                       cost.backward_weight_s, cost.activation, cost.weight_activation});
  }
}

void WeightFiller::run_weight(const SplitRank& order, Rank& rank, std::vector<Action>* actions) {
  const SplitItem item = order.backwards[rank.weight++];
  const Stage& stage = stages_[item.stage];
  rank.now_s += stage.weight_s;
  rank.activation -= stage.weight_activation;
  if (actions != nullptr) {
    actions->emplace_back(ActionKind::backward_weight, item.stage, item.unit);
  }
}

void WeightFiller::deliver(std::int64_t made, int maker, int consumer, double made_s) {
  const bool sent = consumer >= 0 && consumer != maker;
  there_s_[made] = made_s;
  if (sent) {
    double& port_s = ranks_[maker].port_s;  // when the port is free
    port_s = std::max(port_s, made_s) + request_.port_s;
    there_s_[made] = port_s + request_.message_s - request_.port_s;
  }
  if (sent && ranks_[consumer].waits_for == made) {
    ranks_[consumer].waits_for = -1;
    ready_.push_back(consumer);
  }
}

// Returns the number of the result that the item needs from another stage; -1: none.
std::int64_t WeightFiller::input_of(const SplitItem& item, bool is_forward) const {
  const std::int64_t units = request_.microbatches;
  const auto stages = static_cast<std::int64_t>(stages_.size());
  const std::int64_t result = item.stage * units + item.unit;
  if (is_forward) return item.stage > 0 ? result - units : -1;
  return item.stage + 1 < stages ? stages * units + result + units : -1;
}

// Inserts the weight gradients that fit into a gap, and those that must make room for `activation`
// more. Returns false if no more can be inserted.
bool WeightFiller::make_room(const SplitRank& list, Rank& at, double arrives_s, double activation,
                             std::vector<Action>* actions) {
  while (at.weight < at.backward) {
    const double weight_s = stages_[list.backwards[at.weight].stage].weight_s;
    const double gap_s = arrives_s - at.now_s;
    if (gap_s <= 0 || gap_s < list.patience * weight_s) break;
    run_weight(list, at, actions);
  }
  while (activation > 0 && at.activation + activation > limit_) {
    if (at.weight == at.backward) return false;
    run_weight(list, at, actions);
  }
  return true;
}

// Applies the effects of an item that ends, and delivers its result.
void WeightFiller::finish(const SplitOrder& order, int rank, const SplitItem& item, bool is_forward,
                          std::vector<Action>* actions) {
  const Stage& stage = stages_[item.stage];
  Rank& at = ranks_[rank];
  const auto stages = static_cast<int>(stages_.size());
  const std::int64_t result = std::int64_t{item.stage} * request_.microbatches + item.unit;
  if (is_forward) {
    at.now_s += stage.forward_s;
    at.activation += stage.activation;
    ++at.forward;
    const int next = item.stage + 1 < stages ? order.rank_of_stage[item.stage + 1] : -1;
    deliver(result, rank, next, at.now_s);
  } else {
    at.now_s += stage.input_s;
    at.activation -= stage.activation - stage.weight_activation;
    ++at.backward;
    const int previous = item.stage > 0 ? order.rank_of_stage[item.stage - 1] : -1;
    deliver(std::int64_t{stages} * request_.microbatches + result, rank, previous, at.now_s);
  }
  if (actions == nullptr) return;
  actions->emplace_back(is_forward ? ActionKind::forward : ActionKind::backward_input, item.stage,
                        item.unit);
}

// Returns false if memory does not suffice.
bool WeightFiller::run_rank(const SplitOrder& order, int rank, Schedule* schedule) {
  const SplitRank& list = order.ranks[rank];
  Rank& at = ranks_[rank];
  std::vector<Action>* const actions = schedule != nullptr ? &schedule->actions[rank] : nullptr;
  const auto forwards = static_cast<int>(list.forwards.size());
  const auto backwards = static_cast<int>(list.backwards.size());
  while (at.forward < forwards || at.backward < backwards) {
    const bool is_forward =
        at.backward == backwards || at.forward < std::min(forwards, list.ahead[at.backward]);
    const SplitItem item = is_forward ? list.forwards[at.forward] : list.backwards[at.backward];
    const std::int64_t result = std::int64_t{item.stage} * request_.microbatches + item.unit;
    if (!is_forward && there_s_[result] < 0) return false;  // its forward comes later in the list
    const std::int64_t input = input_of(item, is_forward);
    const double arrives_s = input >= 0 ? there_s_[input] : 0;
    if (arrives_s < 0) {
      at.waits_for = input;
      return true;
    }
    const Stage& stage = stages_[item.stage];
    // An input gradient recomputes and leaves data that may be larger than what its forward kept.
    const double activation =
        is_forward ? stage.activation : std::max(0.0, stage.weight_activation - stage.activation);
    if (!make_room(list, at, arrives_s, activation, actions)) return false;
    at.now_s = std::max(at.now_s, arrives_s);
    if (at.first_start_s < 0) at.first_start_s = at.now_s;
    finish(order, rank, item, is_forward, actions);
  }
  while (at.weight < at.backward) run_weight(list, at, actions);
  return true;
}

FilledResult WeightFiller::fill(const SplitOrder& order, Schedule* schedule) {
  if (schedule != nullptr) {
    *schedule = empty_schedule("searched", request_);
    schedule->rank_of_stage = order.rank_of_stage;
  }
  ranks_.assign(request_.ranks, {});
  there_s_.assign(2 * stages_.size() * request_.microbatches, kPending);
  ready_.clear();
  for (int rank = request_.ranks - 1; rank >= 0; --rank) ready_.push_back(rank);
  while (!ready_.empty()) {
    const int rank = ready_.back();
    ready_.pop_back();
    if (!run_rank(order, rank, schedule)) return {};
  }
  FilledResult result;
  for (int rank = 0; rank < request_.ranks; ++rank) {
    const Rank& at = ranks_[rank];
    if (at.weight < static_cast<int>(order.ranks[rank].backwards.size())) return {};
    const double span_s = at.now_s - std::max(at.first_start_s, 0.0);
    result.longest_stage_s = std::max(result.longest_stage_s, span_s);
    result.makespan_s = std::max(result.makespan_s, at.now_s);
    result.mean_span_s += span_s / request_.ranks;
  }
  result.possible = true;
  return result;
}

}  // namespace windtunnel
