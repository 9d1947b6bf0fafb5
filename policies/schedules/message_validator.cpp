#include "policies/schedules/message_validator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// A message by the stage that sends it, whichever end names it.
struct Message {
  bool forward = true;
  int from_stage = 0;
  int to_stage = 0;
  int unit = 0;
  bool operator==(const Message&) const = default;
  bool operator<(const Message& other) const {
    return std::tie(forward, from_stage, to_stage, unit) <
           std::tie(other.forward, other.from_stage, other.to_stage, other.unit);
  }
};

class MessageChecker {
 public:
  explicit MessageChecker(const Schedule& schedule) : schedule_(schedule) {
    for (const auto& actions : schedule.actions) {
      for (const Action& action : actions) {
        explicit_ = explicit_ || is_message(action.kind);
        gathers_ = gathers_ || action.kind == ActionKind::unshard;
        if (makes_weight_gradient(action.kind)) ++weights_left_[reduction_of(action)];
      }
    }
  }

  std::optional<ScheduleFault> find() {
    for (int rank = 0; rank < schedule_.ranks && !fault_; ++rank) check_rank(rank);
    if (explicit_ && !fault_) check_channels();
    if (!fault_) run();
    return fault_;
  }

 private:
  static bool is_message(ActionKind kind) { return kind >= ActionKind::send_forward; }
  static bool is_send(ActionKind kind) {
    return kind == ActionKind::send_forward || kind == ActionKind::send_backward;
  }

  void fail(int rank, size_t position, std::string what) {
    if (!fault_) fault_ = ScheduleFault{rank, static_cast<int>(position), std::move(what)};
  }

  std::pair<int, int> reduction_of(const Action& action) const {
    return {action.stage, action.unit / (schedule_.microbatches * schedule_.slices)};
  }

  // The message that an action waits for, of which nobody knows yet whether it is one.
  std::optional<Message> input_of(const Action& action) const {
    const int stage = schedule_.model_stage(action.stage);
    if (action.kind == ActionKind::forward && stage > 0) {
      return Message{true, action.stage - 1, action.stage, action.unit};
    }
    if (makes_input_gradient(action.kind) && stage + 1 < schedule_.model_stages()) {
      return Message{false, action.stage + 1, action.stage, action.unit};
    }
    return std::nullopt;
  }

  Message message_of(const Action& action) const {
    switch (action.kind) {
      case ActionKind::send_forward:
        return {true, action.stage, action.stage + 1, action.unit};
      case ActionKind::receive_forward:
        return {true, action.stage - 1, action.stage, action.unit};
      case ActionKind::send_backward:
        return {false, action.stage, action.stage - 1, action.unit};
      default:
        return {false, action.stage + 1, action.stage, action.unit};
    }
  }

  bool between_ranks(const Message& message) const {
    return schedule_.rank_of_stage[message.from_stage] != schedule_.rank_of_stage[message.to_stage];
  }

  // One rank's list on its own.
  void check_rank(int rank) {
    std::set<Message> received;
    std::set<Message> sent;
    std::set<Message> made;
    std::map<int, bool> gathered;
    const auto& actions = schedule_.actions[rank];
    for (size_t at = 0; at < actions.size() && !fault_; ++at) {
      const Action& action = actions[at];
      if (is_message(action.kind)) {
        check_message(rank, at, made, is_send(action.kind) ? sent : received);
      } else if (is_compute(action.kind)) {
        const std::optional<Message> input = input_of(action);
        if (explicit_ && input && between_ranks(*input) && received.count(*input) == 0) {
          fail(rank, at, "has not received what it needs");
        }
        if (gathers_ && !gathered[action.stage]) fail(rank, at, "its weights are not gathered");
        note_result(action, made);
        if (makes_weight_gradient(action.kind)) --weights_left_[reduction_of(action)];
      } else {
        check_weights(rank, at, gathered);
      }
    }
    for (const Message& message : made) {
      if (explicit_ && !fault_ && between_ranks(message) && sent.count(message) == 0) {
        fail(rank, position_of_result(rank, message), "its result is never sent");
      }
    }
  }

  void note_result(const Action& action, std::set<Message>& made) const {
    if (!explicit_) return;
    const int stage = schedule_.model_stage(action.stage);
    if (action.kind == ActionKind::forward && stage + 1 < schedule_.model_stages()) {
      made.insert({true, action.stage, action.stage + 1, action.unit});
    }
    if (makes_input_gradient(action.kind) && stage > 0) {
      made.insert({false, action.stage, action.stage - 1, action.unit});
    }
  }

  size_t position_of_result(int rank, const Message& message) const {
    const auto& actions = schedule_.actions[rank];
    const auto at = std::find_if(actions.begin(), actions.end(), [&](const Action& action) {
      const bool made =
          message.forward ? action.kind == ActionKind::forward : makes_input_gradient(action.kind);
      return made && action.stage == message.from_stage && action.unit == message.unit;
    });
    return at - actions.begin();
  }

  void check_message(int rank, size_t at, const std::set<Message>& made, std::set<Message>& known) {
    const Action& action = schedule_.actions[rank][at];
    const bool up =
        action.kind == ActionKind::send_forward || action.kind == ActionKind::receive_backward;
    const int stage = schedule_.model_stage(action.stage);
    if (up ? stage + 1 == schedule_.model_stages() : stage == 0) {
      return fail(rank, at, up ? "there is no later stage" : "there is no earlier stage");
    }
    const Message message = message_of(action);
    if (!between_ranks(message)) return fail(rank, at, "both stages are on this rank");
    if (!known.insert(message).second) return fail(rank, at, "is done twice");
    if (is_send(action.kind) && made.count(message) == 0) {
      fail(rank, at, "comes before the result that it sends");
    }
  }

  void check_weights(int rank, size_t at, std::map<int, bool>& gathered) {
    const Action& action = schedule_.actions[rank][at];
    bool& is_gathered = gathered[action.stage];
    if (action.kind == ActionKind::unshard) {
      if (is_gathered) fail(rank, at, "the weights are gathered already");
      is_gathered = true;
    } else if (action.kind == ActionKind::reshard) {
      if (!is_gathered) fail(rank, at, "the weights are not gathered");
      is_gathered = false;
    } else {
      int& iteration = reductions_[action.stage];
      if (iteration == schedule_.iterations) return fail(rank, at, "is done twice");
      if (weights_left_[{action.stage, iteration}] > 0) {
        fail(rank, at, "comes before the stage's last weight gradient");
      }
      ++iteration;
    }
  }

  struct Posted {
    Message message;
    int position = 0;
  };
  struct Channel {
    std::vector<Posted> sends;
    std::vector<Posted> receives;
  };

  // Messages from one rank to another have no names on the wire: they match in order.
  void check_channels() {
    std::map<std::pair<int, int>, Channel> channels;  // (from, to)
    for (int rank = 0; rank < schedule_.ranks; ++rank) {
      const auto& actions = schedule_.actions[rank];
      for (size_t at = 0; at < actions.size(); ++at) {
        if (!is_message(actions[at].kind)) continue;
        const Message message = message_of(actions[at]);
        const int from = schedule_.rank_of_stage[message.from_stage];
        const int to = schedule_.rank_of_stage[message.to_stage];
        Channel& channel = channels[{from, to}];
        (is_send(actions[at].kind) ? channel.sends : channel.receives)
            .push_back({message, static_cast<int>(at)});
      }
    }
    for (const auto& [ends, channel] : channels) {
      check_order(ends.first, ends.second, channel);
    }
  }

  void check_order(int from, int to, const Channel& channel) {
    // Each list on its own has every send and receive that its results and inputs need, and no
    // other.
    CHECK(channel.sends.size() == channel.receives.size(), "{} sends, {} receives",
          channel.sends.size(), channel.receives.size());
    for (size_t i = 0; i < channel.sends.size() && !fault_; ++i) {
      if (channel.sends[i].message == channel.receives[i].message) continue;
      fail(to, channel.receives[i].position,
           fmt::format("rank {} sends {} at this place, and messages between two ranks match in "
                       "order",
                       from, to_string(schedule_.actions[from][channel.sends[i].position])));
    }
  }

  // Lets every rank run as far as it can until all are through.
  void run() {
    std::vector<bool> forward(static_cast<size_t>(schedule_.stages()) * schedule_.units(), false);
    std::vector<bool> gradient = forward;
    std::vector<size_t> position(schedule_.ranks, 0);
    const auto result_of = [&](int stage, int unit) {
      return static_cast<size_t>(stage) * schedule_.units() + unit;
    };
    // The send follows the result, so a receive is there once its send is.
    const auto ready = [&](const Action& action) {
      if (!is_compute(action.kind)) return true;
      const std::optional<Message> input = input_of(action);
      return !input ||
             (input->forward ? forward : gradient)[result_of(input->from_stage, input->unit)];
    };
    const auto finish = [&](const Action& action) {
      const bool local = !explicit_;
      const auto note = [&](bool is_forward) {
        (is_forward ? forward : gradient)[result_of(action.stage, action.unit)] = true;
      };
      const int stage = schedule_.model_stage(action.stage);
      const auto same_rank = [&](int step) {
        return schedule_.rank_of_stage[action.stage] ==
               schedule_.rank_of_stage[action.stage + step];
      };
      if (is_send(action.kind)) note(action.kind == ActionKind::send_forward);
      if (action.kind == ActionKind::forward && stage + 1 < schedule_.model_stages() &&
          (local || same_rank(1))) {
        note(true);
      }
      if (makes_input_gradient(action.kind) && stage > 0 && (local || same_rank(-1))) note(false);
    };
    for (bool progress = true; progress;) {
      progress = false;
      for (int rank = 0; rank < schedule_.ranks; ++rank) {
        const auto& actions = schedule_.actions[rank];
        size_t& at = position[rank];
        while (at < actions.size()) {
          const size_t end = at + (actions[at].with_next ? 2 : 1);
          bool all_ready = true;
          for (size_t i = at; i < end; ++i) all_ready = all_ready && ready(actions[i]);
          if (!all_ready) break;
          for (; at < end; ++at) finish(actions[at]);
          progress = true;
        }
      }
    }
    for (int rank = 0; rank < schedule_.ranks; ++rank) {
      if (position[rank] == schedule_.actions[rank].size()) continue;
      fail(rank, position[rank], "waits forever: the ranks deadlock");
    }
  }

  const Schedule& schedule_;
  bool explicit_ = false;  // messages are named
  bool gathers_ = false;
  std::map<std::pair<int, int>, int> weights_left_;  // (stage, iteration)
  std::map<int, int> reductions_;                    // stage -> iterations reduced
  std::optional<ScheduleFault> fault_;
};

}  // namespace

std::optional<ScheduleFault> find_message_fault(const Schedule& schedule) {
  return MessageChecker(schedule).find();
}

void validate_messages(const Schedule& schedule) {
  const std::optional<ScheduleFault> fault = find_message_fault(schedule);
  if (!fault) return;
  throw Error(fmt::format("schedule '{}', rank {}, action {} ({}): {}", schedule.name, fault->rank,
                          fault->position + 1,
                          to_string(schedule.actions[fault->rank][fault->position]), fault->what));
}

}  // namespace windtunnel
