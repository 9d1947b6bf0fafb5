#include "policies/evaluation/message_validator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// Identifies a message by its two stages. Its send and its receive have the same value.
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

  // Returns the message that an action waits for. The caller checks whether the message exists.
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

  // Returns the message that carries an action's result.
  std::optional<Message> output_of(const Action& action) const {
    const int stage = schedule_.model_stage(action.stage);
    if (action.kind == ActionKind::forward && stage + 1 < schedule_.model_stages()) {
      return Message{true, action.stage, action.stage + 1, action.unit};
    }
    if (makes_input_gradient(action.kind) && stage > 0) {
      return Message{false, action.stage, action.stage - 1, action.unit};
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

  // What a rank has received, sent and computed so far in its list.
  struct Done {
    std::set<Message> received;
    std::set<Message> sent;
    std::set<Message> made;
    std::map<int, bool> gathered;  // by stage
  };

  // Checks one rank's list without those of other ranks.
  void check_rank(int rank) {
    Done done;
    const auto& actions = schedule_.actions[rank];
    for (size_t at = 0; at < actions.size() && !fault_; ++at) {
      const ActionKind kind = actions[at].kind;
      if (is_message(kind)) {
        check_message(rank, at, done.made, is_send(kind) ? done.sent : done.received);
      } else if (is_compute(kind)) {
        check_compute(rank, at, done);
      } else {
        check_weights(rank, at, done.gathered);
      }
    }
    if (!explicit_) return;
    for (const Message& message : done.made) {
      if (between_ranks(message) && done.sent.count(message) == 0) {
        fail(rank, position_of_result(rank, message), "its result is never sent");
      }
    }
  }

  void check_compute(int rank, size_t at, Done& done) {
    const Action& action = schedule_.actions[rank][at];
    const std::optional<Message> input = input_of(action);
    if (explicit_ && input && between_ranks(*input) && done.received.count(*input) == 0) {
      fail(rank, at, "has not received what it needs");
    }
    if (gathers_ && !done.gathered[action.stage]) fail(rank, at, "its weights are not gathered");
    const std::optional<Message> output = output_of(action);
    if (explicit_ && output) done.made.insert(*output);
    if (makes_weight_gradient(action.kind)) --weights_left_[reduction_of(action)];
  }

  size_t position_of_result(int rank, const Message& message) const {
    const auto& actions = schedule_.actions[rank];
    const auto at = std::ranges::find_if(
        actions, [&](const Action& action) { return output_of(action) == message; });
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
      fail(rank, at, "is before the result that it sends");
    }
  }

  void check_weights(int rank, size_t at, std::map<int, bool>& gathered) {
    const Action& action = schedule_.actions[rank][at];
    bool& is_gathered = gathered[action.stage];
    if (action.kind == ActionKind::unshard) {
      if (is_gathered) fail(rank, at, "the weights are already gathered");
      is_gathered = true;
    } else if (action.kind == ActionKind::reshard) {
      if (!is_gathered) fail(rank, at, "the weights have not been gathered before");
      is_gathered = false;
    } else {
      int& iteration = reductions_[action.stage];
      if (iteration == schedule_.iterations) return fail(rank, at, "is done twice");
      if (weights_left_[{action.stage, iteration}] > 0) {
        fail(rank, at, "is before the last weight gradient of the stage");
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

  // Messages from one rank to another have no names, so the nth send must match the nth receive.
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
    // check_rank() has found every send and receive that is needed, and no other.
    CHECK(channel.sends.size() == channel.receives.size(), "{} sends, {} receives",
          channel.sends.size(), channel.receives.size());
    for (size_t i = 0; i < channel.sends.size() && !fault_; ++i) {
      if (channel.sends[i].message == channel.receives[i].message) continue;
      fail(
          to, channel.receives[i].position,
          fmt::format(
              "rank {} sends {} at this place, but messages between two ranks are matched in order",
              from, to_string(schedule_.actions[from][channel.sends[i].position])));
    }
  }

  // Runs every rank until it must wait, again and again, until all ranks have ended.
  void run() {
    for (std::vector<bool>* there : {&activation_there_, &gradient_there_}) {
      there->assign(static_cast<size_t>(schedule_.stages()) * schedule_.units(), false);
    }
    std::vector<size_t> position(schedule_.ranks, 0);
    for (bool progress = true; progress;) {
      progress = false;
      for (int rank = 0; rank < schedule_.ranks; ++rank) {
        progress = advance(schedule_.actions[rank], position[rank]) || progress;
      }
    }
    for (int rank = 0; rank < schedule_.ranks; ++rank) {
      if (position[rank] == schedule_.actions[rank].size()) continue;
      fail(rank, position[rank], "waits forever, because the ranks deadlock");
    }
  }

  bool advance(const std::vector<Action>& actions, size_t& at) {
    const size_t from = at;
    while (at < actions.size()) {
      const size_t end = at + (actions[at].with_next ? 2 : 1);
      for (size_t i = at; i < end; ++i) {
        if (!ready(actions[i])) return at > from;
      }
      for (; at < end; ++at) finish(actions[at]);
    }
    return at > from;
  }

  // A receive need not wait for its send: the input that it brings is there only after the send.
  bool ready(const Action& action) {
    const std::optional<Message> input = input_of(action);
    return !input || there(*input);
  }

  // A result can be used when it is made; if messages are explicit and another rank uses it, when
  // it is sent.
  void finish(const Action& action) {
    if (is_send(action.kind)) there(message_of(action)) = true;
    const std::optional<Message> output = output_of(action);
    if (output && (!explicit_ || !between_ranks(*output))) there(*output) = true;
  }

  std::vector<bool>::reference there(const Message& message) {
    return (message.forward
                ? activation_there_
                : gradient_there_)[static_cast<size_t>(message.from_stage) * schedule_.units() +
                                   message.unit];
  }

  const Schedule& schedule_;
  bool explicit_ = false;  // the schedule contains its messages
  bool gathers_ = false;
  std::map<std::pair<int, int>, int> weights_left_;  // {stage, iteration} weight gradients to come
  std::map<int, int> reductions_;                    // by stage: number of reduced iterations
  std::vector<bool> activation_there_;               // [stage that sends * units + unit]
  std::vector<bool> gradient_there_;                 // [stage that sends * units + unit]
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
