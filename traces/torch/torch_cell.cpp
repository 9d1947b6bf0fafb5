#include "traces/torch/torch_cell.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kOverlap = "OVERLAP_F_B";
constexpr std::string_view kOldFull = "BW";
constexpr int kMostDigits = 7;
constexpr std::array kKinds = {
    ActionKind::forward,         ActionKind::backward,      ActionKind::backward_input,
    ActionKind::backward_weight, ActionKind::recompute,     ActionKind::unshard,
    ActionKind::reshard,         ActionKind::reduce_grad,   ActionKind::send_forward,
    ActionKind::receive_forward, ActionKind::send_backward, ActionKind::receive_backward};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

// Reads the actions of the text one by one.
class ActionScanner {
 public:
  explicit ActionScanner(std::string_view text) : whole_(text), rest_(text) {}

  TorchAction scan() {
    TorchAction action;
    action.stage = number("a stage number", "as in 3F1");
    if (take('@')) action.direction = number("the number of a direction", "as in 3@1F0");
    scan_type(action);
    if (!action.has_unit()) {
      if (!rest_.empty() && is_digit(rest_.front())) {
        fail(fmt::format("{} must have no micro-batch", letters_of(action.kind)));
      }
    } else {
      if (rest_.empty()) fail("the micro-batch is missing");
      action.microbatch = number("a micro-batch", "as in 3F1");
      if (take(':')) {
        action.iteration = action.microbatch;
        action.microbatch = number("a micro-batch", "as in 3F0:1");
      }
      if (take('.')) action.slice = number("a slice", "as in 3F1.0");
    }
    if (!rest_.empty()) fail(fmt::format("'{}' follows the action", excerpt(rest_)));
    return action;
  }

 private:
  void scan_type(TorchAction& action) {
    size_t length = 0;
    while (length < rest_.size() && is_letter(rest_[length])) ++length;
    const std::string_view letters = rest_.substr(0, length);
    if (letters.empty()) fail("expected an action after the stage, such as F in 3F1");
    std::vector<std::string> known = {std::string(kOldFull)};
    for (const ActionKind kind : kKinds) {
      if (letters_of(kind) == letters) {
        action.kind = kind;
        rest_.remove_prefix(length);
        return;
      }
      known.emplace_back(letters_of(kind));
    }
    if (letters != kOldFull) fail(unknown_name("action", excerpt(letters), known));
    action.kind = ActionKind::backward;
    action.old_full = true;
    rest_.remove_prefix(length);
  }

  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  int number(std::string_view what, std::string_view example) {
    size_t digits = 0;
    int value = 0;
    while (digits < rest_.size() && is_digit(rest_[digits]) && digits <= kMostDigits) {
      value = 10 * value + (rest_[digits++] - '0');
    }
    if (digits == 0) fail(fmt::format("expected {}, {}", what, example));
    if (digits > kMostDigits) fail(fmt::format("{} has more than {} digits", what, kMostDigits));
    if (digits > 1 && rest_.front() == '0') fail(fmt::format("{} starts with 0", what));
    rest_.remove_prefix(digits);
    return value;
  }

  [[noreturn]] void fail(std::string_view why) const {
    throw Error(fmt::format("'{}': {}", excerpt(whole_), why));
  }

  std::string_view whole_;
  std::string_view rest_;
};

// `cell` starts with "(".
std::vector<TorchAction> parse_overlap(std::string_view cell) {
  const auto fail = [&](std::string_view why) {
    throw Error(fmt::format("'{}': {}", excerpt(cell), why));
  };
  const size_t end = cell.find(')');
  if (end == std::string_view::npos) fail("the bracket is not closed");
  if (cell.substr(end + 1) != kOverlap) {
    fail(fmt::format("expected {} after the bracket, not '{}'", kOverlap,
                     excerpt(cell.substr(end + 1))));
  }
  const std::string_view pair = cell.substr(1, end - 1);
  const size_t semicolon = pair.find(';');
  if (semicolon == std::string_view::npos ||
      pair.find(';', semicolon + 1) != std::string_view::npos) {
    fail("expected two actions in the brackets, as in (0F7;7B3)OVERLAP_F_B");
  }
  std::vector<TorchAction> actions = {ActionScanner(trimmed(pair.substr(0, semicolon))).scan(),
                                      ActionScanner(trimmed(pair.substr(semicolon + 1))).scan()};
  if (actions[0].kind != ActionKind::forward || actions[1].kind != ActionKind::backward) {
    fail("a forward and a full backward overlap, in this order");
  }
  actions[0].with_next = true;
  return actions;
}

}  // namespace

bool TorchAction::has_unit() const {
  return kind != ActionKind::unshard && kind != ActionKind::reshard &&
         kind != ActionKind::reduce_grad;
}

bool TorchAction::extended() const {
  return direction > 0 || iteration > 0 || slice > 0 || kind == ActionKind::recompute;
}

std::string TorchAction::text() const {
  std::string text = fmt::format("{}", stage);
  if (direction > 0) text += fmt::format("@{}", direction);
  text += old_full ? kOldFull : letters_of(kind);
  if (!has_unit()) return text;
  if (iteration > 0) text += fmt::format("{}:", iteration);
  text += fmt::format("{}", microbatch);
  if (slice > 0) text += fmt::format(".{}", slice);
  return text;
}

std::vector<TorchAction> parse_torch_cell(std::string_view cell) {
  cell = trimmed(cell);
  if (cell.empty()) return {};
  if (cell.find('"') != std::string_view::npos) {
    throw Error(fmt::format("'{}': a cell must not contain quotes", excerpt(cell)));
  }
  if (cell.front() == '(') return parse_overlap(cell);
  return {ActionScanner(cell).scan()};
}

}  // namespace windtunnel
