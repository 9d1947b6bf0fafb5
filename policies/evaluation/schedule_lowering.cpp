#include "policies/evaluation/schedule_lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// Returns the index behind the action at a position. An overlapped pair counts as one action.
size_t end_of(const std::vector<Action>& actions, size_t position) {
  return position + (actions[position].with_next ? 2 : 1);
}

bool contains(const std::vector<int>& stages, int stage) {
  return std::find(stages.begin(), stages.end(), stage) != stages.end();
}

// Returns the next `count` stages from `from` on, each once. Both actions of a pair are included.
std::vector<int> next_stages(const std::vector<Action>& actions, size_t from, int count) {
  std::vector<int> stages;
  while (from < actions.size() && static_cast<int>(stages.size()) < count) {
    const size_t end = end_of(actions, from);
    for (; from < end; ++from) {
      if (!contains(stages, actions[from].stage)) stages.push_back(actions[from].stage);
    }
  }
  return stages;
}

int count_stages(const std::vector<Action>& actions) {
  std::set<int> stages;
  for (const Action& action : actions) stages.insert(action.stage);
  return static_cast<int>(stages.size());
}

std::vector<Action> with_unshards(const std::vector<Action>& actions, int max_active_stages) {
  std::vector<Action> result;
  std::vector<int> active;  // ascending
  // Without this limit next_stages() would always search to the end of the list.
  const int count = std::min(max_active_stages, count_stages(actions));
  for (size_t at = 0; at < actions.size();) {
    const size_t end = end_of(actions, at);
    const std::vector<int> next = next_stages(actions, at, count);
    std::erase_if(active, [&](int stage) {
      if (contains(next, stage)) return false;
      result.emplace_back(ActionKind::reshard, stage, 0);
      return true;
    });
    for (const int stage : next) {
      if (contains(active, stage)) continue;
      result.emplace_back(ActionKind::unshard, stage, 0);
      active.insert(std::upper_bound(active.begin(), active.end(), stage), stage);
    }
    result.insert(result.end(), actions.begin() + static_cast<std::ptrdiff_t>(at),
                  actions.begin() + static_cast<std::ptrdiff_t>(end));
    at = end;
  }
  for (const int stage : active) result.emplace_back(ActionKind::reshard, stage, 0);
  return result;
}

class MessagePlacer {
 public:
  explicit MessagePlacer(const Schedule& schedule)
      : schedule_(schedule),
        units_(schedule.units()),
        forward_there_(static_cast<size_t>(schedule.stages()) * units_, false),
        gradient_there_(forward_there_),
        lists_(schedule.ranks),
        position_(schedule.ranks, 0) {}

  std::vector<std::vector<Action>> place() {
    bool left = true;
    while (left) {
      left = false;
      bool progress = false;
      for (int rank = 0; rank < schedule_.ranks; ++rank) {
        const auto& actions = schedule_.actions[rank];
        const size_t at = position_[rank];
        if (at == actions.size()) continue;
        left = true;
        if (!ready(actions, at)) continue;
        emit(rank, actions, at);
        progress = true;
      }
      if (left && !progress) fail();
    }
    return std::move(lists_);
  }

 private:
  // Whether the action's inputs have arrived. A result arrives when the action that makes it is
  // emitted, because its receive is then in the list.
  bool ready(const std::vector<Action>& actions, size_t at) const {
    const size_t end = end_of(actions, at);
    for (; at < end; ++at) {
      const Action& action = actions[at];
      const int stage = schedule_.model_stage(action.stage);
      if (action.kind == ActionKind::forward && stage > 0 &&
          !forward_there_[result_of(action.stage - 1, action.unit)]) {
        return false;
      }
      if (makes_input_gradient(action.kind) && stage + 1 < schedule_.model_stages() &&
          !gradient_there_[result_of(action.stage + 1, action.unit)]) {
        return false;
      }
    }
    return true;
  }

  void emit(int rank, const std::vector<Action>& actions, size_t at) {
    const size_t end = end_of(actions, at);
    for (size_t i = at; i < end; ++i) lists_[rank].push_back(actions[i]);
    for (size_t i = at; i < end; ++i) {
      const Action& action = actions[i];
      const int stage = schedule_.model_stage(action.stage);
      if (action.kind == ActionKind::forward) {
        forward_there_[result_of(action.stage, action.unit)] = true;
        if (stage + 1 < schedule_.model_stages()) {
          send(rank, action, action.stage + 1, ActionKind::send_forward,
               ActionKind::receive_forward);
        }
      } else if (makes_input_gradient(action.kind)) {
        gradient_there_[result_of(action.stage, action.unit)] = true;
        if (stage > 0) {
          send(rank, action, action.stage - 1, ActionKind::send_backward,
               ActionKind::receive_backward);
        }
      }
    }
    position_[rank] = end;
  }

  void send(int rank, const Action& action, int to_stage, ActionKind send, ActionKind receive) {
    const int to = schedule_.rank_of_stage[to_stage];
    if (to == rank) return;
    lists_[rank].emplace_back(send, action.stage, action.unit);
    lists_[to].emplace_back(receive, to_stage, action.unit);
  }

  size_t result_of(int stage, int unit) const { return static_cast<size_t>(stage) * units_ + unit; }

  [[noreturn]] void fail() const {
    for (int rank = 0; rank < schedule_.ranks; ++rank) {
      const auto& actions = schedule_.actions[rank];
      if (position_[rank] == actions.size()) continue;
      throw Error::of_key(
          "schedule", "'{}' deadlocks: rank {} waits at its action {} ({}) for another rank",
          schedule_.name, rank, position_[rank] + 1, to_string(actions[position_[rank]]));
    }
    throw InternalError("a deadlock without a rank that waits");
  }

  const Schedule& schedule_;
  const size_t units_;
  std::vector<bool> forward_there_;  // [stage * units + unit]
  std::vector<bool> gradient_there_;
  std::vector<std::vector<Action>> lists_;  // [rank]
  std::vector<size_t> position_;            // [rank]
};

}  // namespace

Schedule with_unshards(Schedule schedule, int max_active_stages) {
  CHECK(max_active_stages > 0, "{} active stages", max_active_stages);
  for (auto& actions : schedule.actions) actions = with_unshards(actions, max_active_stages);
  return schedule;
}

Schedule with_gradient_reductions(Schedule schedule) {
  const int per_iteration = schedule.microbatches * schedule.slices;
  const auto cell_of = [&](const Action& action) {
    return static_cast<size_t>(action.stage) * schedule.iterations + action.unit / per_iteration;
  };
  std::vector<int> left(static_cast<size_t>(schedule.stages()) * schedule.iterations, 0);
  for (const auto& actions : schedule.actions) {
    for (const Action& action : actions) {
      if (makes_weight_gradient(action.kind)) ++left[cell_of(action)];
    }
  }
  for (auto& actions : schedule.actions) {
    std::vector<Action> result;
    for (const Action& action : actions) {
      result.push_back(action);
      if (makes_weight_gradient(action.kind) && --left[cell_of(action)] == 0) {
        result.emplace_back(ActionKind::reduce_grad, action.stage, 0);
      }
    }
    actions = std::move(result);
  }
  return schedule;
}

Schedule with_messages(const Schedule& schedule) {
  Schedule result = schedule;
  result.actions = MessagePlacer(schedule).place();
  return result;
}

Schedule lowered(const Schedule& schedule, const LoweringOptions& options) {
  Schedule result = options.sharded ? with_unshards(schedule, options.max_active_stages) : schedule;
  return with_messages(with_gradient_reductions(std::move(result)));
}

Schedule with_full_backwards(Schedule schedule) {
  for (auto& actions : schedule.actions) {
    std::vector<Action> result;
    for (const Action& action : actions) {
      const bool merges =
          action.kind == ActionKind::backward_weight && !result.empty() &&
          result.back() == Action(ActionKind::backward_input, action.stage, action.unit);
      if (merges) {
        result.back().kind = ActionKind::backward;
      } else {
        result.push_back(action);
      }
    }
    actions = std::move(result);
  }
  return schedule;
}

Schedule without_messages(Schedule schedule) {
  for (auto& actions : schedule.actions) {
    std::erase_if(actions,
                  [](const Action& action) { return action.kind >= ActionKind::send_forward; });
  }
  return schedule;
}

Schedule compute_only(Schedule schedule) {
  for (auto& actions : schedule.actions) {
    std::erase_if(actions, [](const Action& action) { return !is_compute(action.kind); });
  }
  return schedule;
}

}  // namespace windtunnel
