// 1F1B that never drains: the micro-batches of one iteration follow those of the one before.
#include <fmt/format.h>

#include "models/base/error.hpp"
#include "policies/schedules/alternation.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {
namespace {

// Returns enough iterations for steady_window(), in units of the iterations whose micro-batches
// fill the pipeline. The pipeline drains in one unit and is observed for one. It runs for two
// before that, because a bottleneck has its full effect only once the pipeline is full.
int iterations_for(const ScheduleRequest& request) {
  return 4 * ((request.ranks + request.microbatches - 1) / request.microbatches);
}

Schedule endless_1f1b(std::string_view name, const ScheduleRequest& request) {
  require_chunks(name, request, 1, 1);
  Schedule schedule = empty_schedule(name, request);
  schedule.iterations = iterations_for(request);
  ScheduleRequest all = request;
  all.microbatches = schedule.iterations * request.microbatches;
  check_request(all);
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    append_alternating(actions_of(ActionKind::forward, rank, schedule.units()),
                       actions_of(ActionKind::backward, rank, schedule.units()),
                       schedule.ranks - 1 - rank, schedule.actions[rank]);
  }
  return schedule;
}

}  // namespace

// The weights change after every micro-batch, and a micro-batch's backward uses the version of its
// forward. Rank r of p holds p - r versions: the gradient of version k makes version k + p - r.
Schedule generate_pipedream(const ScheduleRequest& request) {
  Schedule schedule = endless_1f1b("pipedream", request);
  for (int rank = 0; rank < request.ranks; ++rank) {
    schedule.weight_copies.push_back(request.ranks - rank);
  }
  return schedule;
}

// The weights change once per iteration. If an iteration has at least as many micro-batches as the
// pipeline holds, those in flight belong to at most two iterations.
Schedule generate_pipedream_2bw(const ScheduleRequest& request) {
  constexpr std::string_view kName = "pipedream-2bw";
  if (request.microbatches < request.ranks) {
    throw Error::about(
        {"batch.global", "schedule"},
        "schedule '{}' needs at least as many micro-batches as pipeline ranks ({}), not {}: "
        "otherwise two versions of the weights are not enough; pipedream holds more",
        kName, request.ranks, request.microbatches);
  }
  Schedule schedule = endless_1f1b(kName, request);
  schedule.weight_copies.assign(request.ranks, 2);
  return schedule;
}

}  // namespace windtunnel
