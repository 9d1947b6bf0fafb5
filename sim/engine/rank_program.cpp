#include "sim/engine/rank_program.hpp"

#include <algorithm>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// Returns the slot of the rank's class that has this group.
std::int32_t slot_of(const RankClass& rank_class, std::int32_t member, std::int32_t group) {
  for (size_t s = 0; s < rank_class.groups.size(); ++s) {
    if (rank_class.groups[s][member] == group) return static_cast<std::int32_t>(s);
  }
  CHECK(false, "class '{}': member {} has no slot for group {}", rank_class.name, member, group);
  return -1;
}

std::vector<GroupEdge> fold_edges(const Plan& plan, const std::vector<ClassMember>& of_rank,
                                  const Folding& folding, std::int32_t group,
                                  const FlowTable::Pattern& pattern) {
  std::vector<GroupEdge> edges;
  std::vector<std::int32_t> slot_of_member(plan.groups[group].members.size(), -1);
  for (size_t e = 0; e < pattern.pipelined.size(); ++e) {
    const FlowTable::PipelinedFlow& edge = pattern.pipelined[e];
    const RankId source = plan.groups[group].members[edge.source];
    std::int32_t& slot = slot_of_member[edge.source];
    if (slot < 0) {
      const ClassMember& at = of_rank[source];
      slot = slot_of(plan.classes[at.rank_class], at.member, group);
    }
    edges.push_back({folding.representative[source], slot, folding.flow_of[pattern.first_flow + e],
                     edge.bytes});
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const GroupEdge& a, const GroupEdge& b) { return a.flow < b.flow; });
  edges.erase(std::unique(edges.begin(), edges.end(),
                          [](const GroupEdge& a, const GroupEdge& b) { return a.flow == b.flow; }),
              edges.end());
  std::stable_sort(edges.begin(), edges.end(),
                   [](const GroupEdge& a, const GroupEdge& b) { return a.owner() < b.owner(); });
  return edges;
}

}  // namespace

Program make_program(const Plan& plan, const FlowTable& flows, const Folding& folding) {
  Program program;
  program.classes = class_templates(plan);
  const std::vector<ClassMember> of_rank = class_of_rank(plan);
  program.groups.resize(folding.groups.size());
  for (size_t g = 0; g < folding.groups.size(); ++g) {
    const std::int32_t group = folding.groups[g];
    for (const FlowTable::Pattern& pattern : flows.groups[group].patterns) {
      program.groups[g].patterns.push_back(fold_edges(plan, of_rank, folding, group, pattern));
    }
  }
  for (const FoldedRank& rank : folding.ranks) {
    for (const auto& slot : plan.classes[rank.rank_class].groups) {
      ++program.groups[folding.group_of[slot[rank.member]]].arrivals;
    }
  }
  return program;
}

}  // namespace windtunnel
