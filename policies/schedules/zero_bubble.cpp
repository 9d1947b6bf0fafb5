// The handcrafted orders of Zero Bubble, ZB-H1 and ZB-H2: backward passes are split, and weight
// gradients run while the pipeline drains (Qi et al., ICLR 2024, arXiv 2401.10241).
#include <algorithm>

#include "policies/schedules/generators.hpp"

namespace windtunnel {
namespace {

// Makes 1F1B with split backwards. A rank runs `depth` warm-up forwards for each later rank, and
// defers `depth` weight gradients for each earlier rank until the pipeline drains.
Schedule handcrafted(std::string_view name, const ScheduleRequest& request, int depth) {
  require_chunks(name, request, 1, 1);
  Schedule schedule = empty_schedule(name, request);
  const int microbatches = schedule.microbatches;
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    auto& actions = schedule.actions[rank];
    actions.reserve(3 * static_cast<std::size_t>(microbatches));
    const int warm_up = std::min(depth * (schedule.ranks - 1 - rank), microbatches);
    int forward = 0;
    int weight = 0;
    while (forward < warm_up) actions.push_back({ActionKind::forward, rank, forward++});
    for (int i = 0; i < microbatches; ++i) {
      if (forward < microbatches) actions.push_back({ActionKind::forward, rank, forward++});
      actions.push_back({ActionKind::backward_input, rank, i});
      if (i >= depth * rank) actions.push_back({ActionKind::backward_weight, rank, weight++});
    }
    while (weight < microbatches) actions.push_back({ActionKind::backward_weight, rank, weight++});
  }
  return schedule;
}

}  // namespace

Schedule generate_zb_h1(const ScheduleRequest& request) {
  return handcrafted("zb-h1", request, 1);
}

Schedule generate_zb_h2(const ScheduleRequest& request) {
  return handcrafted("zb-h2", request, 2);
}

}  // namespace windtunnel
