#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "traces/torch/torch_cell.hpp"
#include "traces/torch/torch_schedule.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

std::string text_of(const Schedule& schedule, const Action& action) {
  TorchAction at;
  at.kind = action.kind;
  at.direction = action.stage / schedule.model_stages();
  at.stage = schedule.model_stage(action.stage);
  at.slice = action.unit % schedule.slices;
  at.microbatch = action.unit / schedule.slices % schedule.microbatches;
  at.iteration = action.unit / schedule.slices / schedule.microbatches;
  return at.text();
}

// The actions of one cell.
struct CellRange {
  int first = 0;
  int last = 0;  // one past the last
};

// The cell that starts at a position; an overlapped pair is one cell.
CellRange cell_at(const std::vector<Action>& actions, int position) {
  return {position, position + (actions[position].with_next ? 2 : 1)};
}

std::string cell_text(const Schedule& schedule, const std::vector<Action>& actions,
                      const CellRange& range) {
  std::string first = text_of(schedule, actions[range.first]);
  if (range.last - range.first == 1) return first;
  return fmt::format("({};{})OVERLAP_F_B", first, text_of(schedule, actions[range.first + 1]));
}

// Finds when each result is available, in time steps of one action.
class TimeSteps {
 public:
  explicit TimeSteps(const Schedule& schedule)
      : schedule_(schedule),
        forward_(static_cast<size_t>(schedule.stages()) * schedule.units(), kPending),
        backward_(forward_) {}

  // Returns the rows, including idle steps.
  std::vector<std::string> rows() {
    std::vector<std::string> rows(schedule_.ranks);
    std::vector<int> position(schedule_.ranks, 0);
    size_t left = schedule_.ranks;
    for (int step = 0; left > 0; ++step) {
      bool progress = false;
      for (int rank = 0; rank < schedule_.ranks; ++rank) {
        const auto& actions = schedule_.actions[rank];
        if (position[rank] == static_cast<int>(actions.size())) continue;
        if (step > 0) rows[rank] += ',';
        const CellRange range = cell_at(actions, position[rank]);
        if (!ready(actions, range, step)) continue;
        for (int at = range.first; at < range.last; ++at) finish(actions[at], step);
        rows[rank] += cell_text(schedule_, actions, range);
        position[rank] = range.last;
        progress = true;
        if (position[rank] == static_cast<int>(actions.size())) --left;
      }
      if (!progress) {
        throw Error(
            fmt::format("schedule '{}' deadlocks after {} time steps", schedule_.name, step));
      }
    }
    return rows;
  }

 private:
  static constexpr std::int32_t kPending = INT32_MAX;

  size_t result_of(int stage, int unit) const {
    return static_cast<size_t>(stage) * schedule_.units() + unit;
  }

  bool ready(const std::vector<Action>& actions, const CellRange& range, int step) const {
    return std::all_of(
        actions.begin() + range.first, actions.begin() + range.last, [&](const Action& action) {
          const int stage = schedule_.model_stage(action.stage);
          if (action.kind == ActionKind::forward) {
            return stage == 0 || forward_[result_of(action.stage - 1, action.unit)] < step;
          }
          const bool needs_gradient = makes_input_gradient(action.kind);
          return !needs_gradient || stage + 1 == schedule_.model_stages() ||
                 backward_[result_of(action.stage + 1, action.unit)] < step;
        });
  }

  void finish(const Action& action, int step) {
    const size_t result = result_of(action.stage, action.unit);
    if (action.kind == ActionKind::forward) forward_[result] = step;
    if (makes_input_gradient(action.kind)) {
      backward_[result] = step;
    }
  }

  const Schedule& schedule_;
  std::vector<std::int32_t> forward_;  // [stage * units + unit] the step that produced it
  std::vector<std::int32_t> backward_;
};

std::string plain_row(const Schedule& schedule, const std::vector<Action>& actions) {
  std::string row;
  for (int at = 0; at < static_cast<int>(actions.size());) {
    const CellRange range = cell_at(actions, at);
    if (at > 0) row += ',';
    row += cell_text(schedule, actions, range);
    at = range.last;
  }
  return row;
}

void append_numbers(std::string& text, std::string_view name, const std::vector<double>& numbers) {
  if (numbers.empty()) return;
  text += name;
  for (const double number : numbers) text += fmt::format(",{}", number);
  text += kLineEnd;
}

// Writes directives for what the actions do not say.
std::string directives(const Schedule& schedule) {
  std::string text;
  bool recomputes = false;
  for (const auto& actions : schedule.actions) {
    recomputes =
        recomputes || std::any_of(actions.begin(), actions.end(), [](const Action& action) {
          return action.kind == ActionKind::recompute;
        });
  }
  if (schedule.explicit_recompute && !recomputes) text += fmt::format("#recompute{}", kLineEnd);
  append_numbers(text, "#slices", schedule.slice_shares);
  append_numbers(text, "#weight_copies", schedule.weight_copies);
  return text;
}

// A direction that no micro-batch uses cannot be represented in a file.
void check_replicas(const Schedule& schedule) {
  std::vector<bool> used(schedule.stages(), false);
  for (const auto& actions : schedule.actions) {
    for (const Action& action : actions) used[action.stage] = true;
  }
  const auto unused = std::find(used.begin(), used.end(), false);
  if (unused == used.end()) return;
  throw Error(
      fmt::format("schedule '{}': stage {} has no action, so a file cannot say on which rank it is",
                  schedule.name, unused - used.begin()));
}

}  // namespace

std::string needed_extension(const Schedule& schedule) {
  if (schedule.directions > 1) {
    return fmt::format("{} directions (in torch each stage is on one rank)", schedule.directions);
  }
  if (schedule.slices > 1) return "slices of a sequence";
  if (schedule.iterations > 1) return "several iterations without a flush between them";
  if (!schedule.weight_copies.empty()) return "several versions of the weights";
  if (schedule.explicit_recompute) return "recomputation as separate actions";
  return "";
}

std::string torch_schedule_text(const Schedule& schedule, bool extended) {
  const std::string needed = needed_extension(schedule);
  if (!needed.empty() && !extended) {
    throw Error(
        fmt::format("schedule '{}' has {}, which torch's format cannot express; --extended writes "
                    "them in windtunnel's extension, which torch cannot read",
                    schedule.name, needed));
  }
  check_replicas(schedule);
  std::string text = directives(schedule);
  const bool messages = std::any_of(
      schedule.actions.begin(), schedule.actions.end(), [](const std::vector<Action>& actions) {
        return std::any_of(actions.begin(), actions.end(),
                           [](const Action& action) { return !is_compute(action.kind); });
      });
  if (!messages) {
    for (const std::string& row : TimeSteps(schedule).rows()) text += row + std::string(kLineEnd);
    return text;
  }
  for (const auto& actions : schedule.actions) {
    text += plain_row(schedule, actions) + std::string(kLineEnd);
  }
  return text;
}

}  // namespace windtunnel
