// 1F1B in which the recomputation is a separate action, so that it need not wait for the gradient.
// Merak's code (HPDL-Group/Merak, Merak/core/pipeline/schedule.py, 216a041e) does so while the
// pipeline fills and drains, where it shortens the critical path. Here it precedes every backward,
// which costs nothing more and also hides messages. In the published code messages block, so the
// second to last stage sends F(1) only after its first recomputation; here messages do not block.
#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.hpp"
#include "policies/schedules/alternation.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {
namespace {

Schedule recompute_1f1b(std::string_view name, const ScheduleRequest& request, int recomputing) {
  require_chunks(name, request, 1, 1);
  Schedule schedule = empty_schedule(name, request);
  schedule.explicit_recompute = true;
  const int units = schedule.units();
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    std::vector<Action> order;
    append_alternating(actions_of(ActionKind::forward, rank, units),
                       actions_of(ActionKind::backward, rank, units), schedule.ranks - 1 - rank,
                       order);
    for (const Action& action : order) {
      if (action.kind == ActionKind::backward && rank < recomputing) {
        schedule.actions[rank].emplace_back(ActionKind::recompute, rank, action.unit);
      }
      schedule.actions[rank].push_back(action);
    }
  }
  return schedule;
}

}  // namespace

Schedule generate_pre_recompute_1f1b(const ScheduleRequest& request) {
  return recompute_1f1b("pre-recompute-1f1b", request, request.ranks);
}

Schedule generate_last_no_recompute_1f1b(const ScheduleRequest& request) {
  return recompute_1f1b("last-no-recompute-1f1b", request, request.ranks - 1);
}

// The second to last stage runs its third forward in the gap before its first backward. Earlier
// stages are further ahead, so the input of this forward is there in time.
Schedule generate_shifted_critical_path(const ScheduleRequest& request) {
  constexpr std::string_view kName = "shifted-critical-path";
  if (request.ranks < 2) {
    throw Error::of_key("schedule",
                        "'{}' needs at least 2 pipeline ranks: with 1 no stage "
                        "recomputes",
                        kName);
  }
  if (request.microbatches < 4) {
    throw Error::about({"batch.global", "schedule"},
                       "schedule '{}' needs at least 4 micro-batches, not {}: it moves the "
                       "third forward; last-no-recompute-1f1b takes fewer",
                       kName, request.microbatches);
  }
  Schedule schedule = recompute_1f1b(kName, request, request.ranks - 1);
  auto& actions = schedule.actions[request.ranks - 2];  // F0 F1 R0 B0 F2 R1 B1 ...
  std::rotate(actions.begin() + 2, actions.begin() + 4, actions.begin() + 5);
  return schedule;
}

}  // namespace windtunnel
