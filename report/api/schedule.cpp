// Translates a caller's order of actions to a schedule of the implementation and checks it.
#include <fmt/format.h>

#include <windtunnel/schedule.hpp>

#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/evaluation/schedule_validator.hpp"
#include "report/api/translation.hpp"

namespace windtunnel_api {
namespace {

core::ActionKind kind_of(Pass pass) {
  switch (pass) {
    case Pass::forward:
      return core::ActionKind::forward;
    case Pass::backward:
      return core::ActionKind::backward;
    case Pass::backward_input:
      return core::ActionKind::backward_input;
    case Pass::backward_weight:
      return core::ActionKind::backward_weight;
  }
  throw core::Error(fmt::format("there is no pass {}", static_cast<int>(pass)));
}

ScheduleRequest public_request(const core::ScheduleRequest& request) {
  ScheduleRequest result = {request.ranks,
                            request.microbatches,
                            request.chunks,
                            request.group,
                            request.memory_limit,
                            request.message_s,
                            {}};
  for (const core::StageCost& cost : request.costs) {
    result.stages.push_back({cost.forward_s, cost.recompute_s + cost.backward_input_s,
                             cost.backward_weight_s, cost.activation});
  }
  return result;
}

core::Schedule checked(const std::string& name, const core::ScheduleRequest& request,
                       const Schedule& made) {
  core::Schedule schedule;
  schedule.name = name;
  schedule.ranks = request.ranks;
  schedule.chunks = request.chunks;
  schedule.microbatches = request.microbatches;
  schedule.rank_of_stage = made.rank_of_stage;
  if (made.rank_of_stage.empty()) {
    for (int stage = 0; stage < schedule.stages(); ++stage) {
      schedule.rank_of_stage.push_back(stage % request.ranks);
    }
  }
  for (const std::vector<Action>& of_rank : made.actions) {
    std::vector<core::Action>& actions = schedule.actions.emplace_back();
    for (const Action& action : of_rank) {
      actions.emplace_back(kind_of(action.pass), action.stage, action.microbatch);
    }
  }
  core::validate_schedule(schedule);
  // Throws if the order deadlocks.
  core::evaluate_schedule(schedule, request.costs, request.message_s);
  return schedule;
}

}  // namespace

core::ScheduleKind schedule_kind_of(const std::string& name, ScheduleGenerator generate,
                                    int chunks) {
  core::ScheduleKind kind;
  kind.name = name;
  kind.usual_chunks = chunks;
  kind.knobs = core::kGroup | core::kMemoryLimit;
  kind.generate = [name, generate = std::move(generate)](const core::ScheduleRequest& request) {
    return checked(name, request, generate(public_request(request)));
  };
  return kind;
}

}  // namespace windtunnel_api
