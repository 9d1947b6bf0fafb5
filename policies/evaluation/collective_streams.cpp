#include "policies/evaluation/collective_streams.hpp"

#include <algorithm>

#include "models/base/error.hpp"

namespace windtunnel {

CollectiveStreams::CollectiveStreams(const Schedule& schedule, const SideStreams& beside)
    : schedule_(schedule), collectives_(beside.collectives), end_(beside.end) {
  if (collectives_ == nullptr && end_ == nullptr) return;
  marks_ = iteration_marks(schedule);
  ranks_.resize(schedule.ranks);
  arrived_s_.assign(std::size_t(schedule.iterations) * schedule.ranks, kPending);
  complete_s_ = arrived_s_;
  if (collectives_ == nullptr) return;
  if (!collectives_->unshard_s.empty()) unsharded_s_.assign(schedule.stages(), 0);
  stages_ = schedule.stages();
  for (const IterationMarks& marks : marks_) {
    for (int stage = 0; stage < schedule.stages(); ++stage) {
      const auto& actions = schedule.actions[schedule.rank_of_stage[stage]];
      const auto at = [&](int place) { return place < 0 ? nullptr : actions.data() + place; };
      first_forward_.push_back(at(marks.first_forward[stage]));
      last_backward_.push_back(at(marks.last_backward[stage]));
    }
  }
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    ranks_[rank].channel_s = collectives_->gathers_s[rank];
  }
}

void CollectiveStreams::transfer_weights(const Action& action, int rank, double now_s) {
  if (collectives_ == nullptr || collectives_->unshard_s.empty()) return;
  double& channel_s = ranks_[rank].channel_s;
  if (action.kind == ActionKind::unshard) {
    channel_s = std::max(channel_s, now_s) + collectives_->unshard_s[action.stage];
    unsharded_s_[action.stage] = channel_s;
  } else if (action.kind == ActionKind::reduce_grad) {
    const double seconds = collectives_->reduce_grad_s[action.stage];
    if (seconds > 0) channel_s = std::max(channel_s, now_s) + seconds;
  }
}

const ActionMap& CollectiveStreams::map_of_pair(const Action& action, const Action& second,
                                                int rank) const {
  const auto found = collectives_->pairs.find({cell_of(action), cell_of(second)});
  CHECK(found != collectives_->pairs.end(), "pair {} {} has no map", to_string(action),
        to_string(second));
  return found->second.maps[is_first(action, rank)][is_last(second)];
}

const ActionMap& CollectiveStreams::map_of(const Action& action, int rank) const {
  const std::size_t cell = cell_of(action);
  const StageMaps& maps = *collectives_->stages[cell];
  switch (action.kind) {
    case ActionKind::forward:
      return is_first(action, rank) ? collectives_->first_forwards[cell] : maps.forward;
    case ActionKind::backward:
      return is_last(action) ? maps.last_backward : maps.backward;
    case ActionKind::backward_input:
      return maps.backward_input;
    case ActionKind::backward_weight:
      return is_last(action) ? maps.last_backward_weight : maps.backward_weight;
    default:
      return maps.recompute;
  }
}

double CollectiveStreams::run(const Action& action, const Action* second, int rank, double start_s,
                              double previous_s) {
  const ActionMap& map =
      second != nullptr ? map_of_pair(action, *second, rank) : map_of(action, rank);
  RankStream& side = ranks_[rank];
  if (!unsharded_s_.empty()) {
    start_s = std::max(start_s, unsharded_s_[action.stage]);
    if (second != nullptr) start_s = std::max(start_s, unsharded_s_[second->stage]);
  }
  const auto reduce = [&] {
    if (side.reduce_s > 0) side.channel_s = std::max(side.channel_s, previous_s) + side.reduce_s;
  };
  if (collectives_->overlap) {
    if (map.gather_s > 0) {
      side.channel_s = std::max(side.channel_s, side.before_s) + map.gather_s;
      start_s = std::max(start_s, side.channel_s);
    }
    if (collectives_->one_queue && side.reduce_s > 0) start_s = std::max(start_s, side.channel_s);
    reduce();
  } else {
    reduce();
    if (map.gather_s > 0) side.channel_s = std::max(side.channel_s, previous_s) + map.gather_s;
    start_s = std::max(start_s, side.channel_s);
  }
  if (map.whole) {
    side.before_s = previous_s;
    side.reduce_s = map.reduce_s;
    return map.later_s[ActionMap::kCompute][ActionMap::kCompute] + start_s;
  }
  std::array<double, 3> later_s;
  for (int out = 0; out < 3; ++out) {
    const auto& row = map.later_s[out];
    later_s[out] =
        std::max(std::max(row[ActionMap::kBefore] + previous_s, row[ActionMap::kCompute] + start_s),
                 std::max(row[ActionMap::kChannel] + side.channel_s,
                          row[ActionMap::kFixed] + side.gathers_s));
  }
  side.before_s = later_s[ActionMap::kBefore];
  side.channel_s = later_s[ActionMap::kChannel];
  side.reduce_s = map.reduce_s;
  return later_s[ActionMap::kCompute];
}

bool CollectiveStreams::arrive(int rank, double now_s) {
  RankStream& side = ranks_[rank];
  double& arrived_s = arrived_s_[std::size_t(side.iteration) * schedule_.ranks + rank];
  if (arrived_s >= 0) return false;
  for (const double seconds : {side.reduce_s, end_->reductions_s[rank]}) {
    if (seconds > 0) side.channel_s = std::max(side.channel_s, now_s) + seconds;
  }
  side.reduce_s = 0;
  arrived_s = std::max(side.channel_s, now_s);
  return true;
}

double CollectiveStreams::end_iteration(int rank) {
  RankStream& side = ranks_[rank];
  const std::size_t row = std::size_t(side.iteration) * schedule_.ranks;
  const double partner_s = arrived_s_[row + end_->partner[rank]];
  if (partner_s < 0) return kPending;
  const double complete_s = std::max(arrived_s_[row + rank], partner_s) + end_->partner_s[rank];
  complete_s_[row + rank] = complete_s;
  ++side.iteration;
  const double now_s = complete_s + end_->optimizer_s[rank];
  side.before_s = side.channel_s = side.gathers_s = now_s;
  if (collectives_ != nullptr) side.channel_s += collectives_->gathers_s[rank];
  return now_s;
}

std::vector<double> CollectiveStreams::ends_s() const {
  const int last = schedule_.iterations > 1 ? steady_window(schedule_).last : 0;
  const auto first = complete_s_.begin() + std::ptrdiff_t(last) * schedule_.ranks;
  return {first, first + schedule_.ranks};
}

}  // namespace windtunnel
