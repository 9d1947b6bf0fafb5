#include "validate/accuracy/execution/measured_plan.hpp"

#include <string>

namespace windtunnel {
namespace {

template <typename Value>
void keep_member(std::vector<std::vector<Value>>& slots, std::int32_t member) {
  for (std::vector<Value>& slot : slots) slot = {slot[static_cast<std::size_t>(member)]};
}

}  // namespace

Plan measured_plan(const Plan& plan, const Timeline& measured) {
  Plan result = plan;
  result.classes.clear();
  result.in_step = 1;
  const std::vector<ClassMember> of_rank = class_of_rank(plan);
  for (const RankTimeline& recorded : measured.ranks) {
    const ClassMember& at = of_rank[recorded.rank];
    RankClass rank_class = plan.classes[at.rank_class];
    rank_class.name = "rank " + std::to_string(recorded.rank);
    rank_class.members = {recorded.rank};
    keep_member(rank_class.groups, at.member);
    keep_member(rank_class.peers, at.member);
    for (std::size_t t = 0; t < rank_class.tasks.size(); ++t) {
      Task& task = rank_class.tasks[t];
      const bool alone = task.kind != TaskKind::send && task.kind != TaskKind::recv &&
                         task.kind != TaskKind::collective;
      if (!alone) continue;
      const Span& span = recorded.spans[t];
      task.cost = {{task.category, Origin::measured, span.end_s - span.start_s}};
      task.flows.clear();
    }
    result.classes.push_back(std::move(rank_class));
  }
  return result;
}

}  // namespace windtunnel
