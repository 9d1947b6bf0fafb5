#include "models/plan/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/base/error.hpp"

namespace windtunnel {

std::string_view letters_of(ActionKind kind) {
  constexpr std::array<std::string_view, 12> kLetters = {
      "F",       "B",           "I",      "W",      "R",      "UNSHARD",
      "RESHARD", "REDUCE_GRAD", "SEND_F", "RECV_F", "SEND_B", "RECV_B"};
  return kLetters[static_cast<std::size_t>(kind)];
}

SteadyWindow steady_window(const Schedule& schedule) {
  CHECK(schedule.iterations > 1, "schedule '{}' is synchronous", schedule.name);
  const auto holding = [&](int units) {
    return (units + schedule.microbatches - 1) / schedule.microbatches;
  };
  SteadyWindow window;
  window.last = std::max(1, schedule.iterations - 1 - holding(schedule.ranks - 1));
  window.first = std::max(0, window.last - holding(schedule.ranks));
  return window;
}

HeldStages held_stages(const Schedule& schedule) {
  HeldStages held(schedule.ranks);
  for (int stage = 0; stage < schedule.stages(); ++stage) {
    held[schedule.rank_of_stage[stage]].push_back(schedule.model_stage(stage));
  }
  return held;
}

HeldStages looped_stages(int ranks, int chunks) {
  HeldStages held(ranks);
  for (int stage = 0; stage < ranks * chunks; ++stage) held[stage % ranks].push_back(stage);
  return held;
}

std::string to_string(const Action& action) {
  std::string text = fmt::format("{}{}", action.stage, letters_of(action.kind));
  switch (action.kind) {
    case ActionKind::unshard:
    case ActionKind::reshard:
    case ActionKind::reduce_grad:
      return text;
    default:
      return fmt::format("{}{}", text, action.unit);
  }
}

}  // namespace windtunnel
