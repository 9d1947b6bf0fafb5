#include "policies/schedules/alternation.hpp"

#include <algorithm>

namespace windtunnel {

void append_alternating(const std::vector<Action>& forwards, const std::vector<Action>& backwards,
                        int warm_up, std::vector<Action>& actions) {
  const auto ahead = forwards.begin() + std::min<std::ptrdiff_t>(warm_up, std::ssize(forwards));
  actions.insert(actions.end(), forwards.begin(), ahead);
  auto forward = ahead;
  for (const Action& backward : backwards) {
    if (forward != forwards.end()) actions.push_back(*forward++);
    actions.push_back(backward);
  }
}

std::vector<Action> actions_of(ActionKind kind, int stage, int units) {
  std::vector<Action> actions;
  actions.reserve(units);
  for (int unit = 0; unit < units; ++unit) actions.emplace_back(kind, stage, unit);
  return actions;
}

}  // namespace windtunnel
