#include "policies/lowering/action_cost.hpp"

#include "models/base/error.hpp"
#include "policies/evaluation/schedule_stages.hpp"
#include "policies/evaluation/stage_cost.hpp"

namespace windtunnel {
namespace {

void append(const std::vector<CostPart>& parts, std::vector<CostPart>& to) {
  to.insert(to.end(), parts.begin(), parts.end());
}

}  // namespace

ActionCosts::ActionCosts(const Schedule& schedule, const std::vector<ChunkCost>& units)
    : schedule_(schedule),
      units_(units),
      recomputed_(schedule.explicit_recompute ? recomputing_stages(schedule)
                                              : std::vector<bool>()) {
  CHECK(static_cast<int>(units.size()) == schedule.model_stages() * schedule.slices,
        "{} unit costs for {} stages of {} slices", units.size(), schedule.model_stages(),
        schedule.slices);
}

int ActionCosts::cell_of(const Action& action) const {
  return schedule_.model_stage(action.stage) * schedule_.slices + action.unit % schedule_.slices;
}

std::vector<bool> ActionCosts::passes_gradient() const {
  std::vector<bool> passes;
  for (int stage = 0; stage < schedule_.model_stages(); ++stage) {
    passes.push_back(units_[std::size_t(stage) * schedule_.slices].passes_gradient);
  }
  return passes;
}

std::vector<CostPart> ActionCosts::parts(const Action& action) const {
  const ChunkCost& cost = unit(action);
  std::vector<CostPart> all;
  const auto add_input = [&] {
    if (!schedule_.explicit_recompute) append(cost.recompute, all);
    append(cost.backward_input, all);
  };
  switch (action.kind) {
    case ActionKind::forward:
      return cost.forward;
    case ActionKind::backward:
      add_input();
      append(cost.backward_weight, all);
      return all;
    case ActionKind::backward_input:
      add_input();
      return all;
    case ActionKind::backward_weight:
      return cost.backward_weight;
    case ActionKind::recompute:
      return cost.recompute;
    default:
      CHECK(false, "action {} computes nothing", to_string(action));
      return {};
  }
}

std::vector<CostPart> ActionCosts::pair_parts(const Action& forward, const Action& backward) const {
  std::vector<CostPart> all = parts(forward);
  append(parts(backward), all);
  double hideable_s = 0;
  for (const CostPart& part : all) {
    if (part.category == Category::ep) hideable_s += part.seconds;
  }
  const double hidden_s =
      total_seconds(all) - overlapped_s(stage_cost(unit(forward)), stage_cost(unit(backward)),
                                        !schedule_.explicit_recompute);
  if (hideable_s <= 0) return all;
  for (CostPart& part : all) {
    if (part.category == Category::ep) part.seconds *= 1 - hidden_s / hideable_s;
  }
  return all;
}

bool ActionCosts::keeps_all(const Action& action) const {
  return schedule_.explicit_recompute && !recomputed_[action.stage];
}

double ActionCosts::allocated_bytes(const Action& action) const {
  const ChunkCost& cost = unit(action);
  switch (action.kind) {
    case ActionKind::forward:
      return cost.activation_bytes + (keeps_all(action) ? cost.recomputed_bytes : 0);
    case ActionKind::recompute:
      return cost.recomputed_bytes;
    default:
      return 0;
  }
}

double ActionCosts::freed_bytes(const Action& action) const {
  const ChunkCost& cost = unit(action);
  const double recomputed = schedule_.explicit_recompute ? cost.recomputed_bytes : 0;
  switch (action.kind) {
    case ActionKind::backward:
      return cost.activation_bytes + recomputed;
    case ActionKind::backward_input:
      return cost.activation_bytes + recomputed - cost.weight_activation_bytes;
    case ActionKind::backward_weight:
      return cost.weight_activation_bytes;
    default:
      return 0;
  }
}

}  // namespace windtunnel
