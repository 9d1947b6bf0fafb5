#include "policies/iteration_plan.hpp"

#include <utility>

#include "models/base/error.hpp"
#include "policies/pipeline_rank.hpp"
#include "policies/snapshot_tasks.hpp"
#include "policies/unit_cost.hpp"

namespace windtunnel {
namespace {

// One group per lane and block of the lattice, the first of them of rank `first`.
GroupSlot add_groups(const IterationContext& ctx, const GroupLattice& lattice,
                     const GroupShape& shape, Category axis, RankId first, Plan& plan) {
  const auto before = static_cast<std::int32_t>(plan.groups.size());
  for (int group = 0; group < lattice.groups(); ++group) {
    plan.groups.push_back({axis, lattice.members(first, group)});
  }
  GroupSlot slot{std::vector<std::int32_t>(ctx.members), shape, plan.groups[before].members};
  for (int m = 0; m < ctx.members; ++m) {
    slot.instance_of_member[m] = before + lattice.group_of(m);
  }
  return slot;
}

GroupSlot add_world_group(const IterationContext& ctx, Plan& plan) {
  return add_groups(ctx, {1, plan.ranks, 1, 1}, world_shape(ctx.job.cluster), Category::dp, 0,
                    plan);
}

}  // namespace

Plan iteration_plan(const Job& job, const Schedule& schedule, const std::vector<ChunkCost>& chunks,
                    const IterationPlanOptions& options) {
  return iteration_plan(job, schedule, chunks, unit_costs(job, schedule, chunks), options);
}

Plan iteration_plan(const Job& job, const Schedule& schedule, const std::vector<ChunkCost>& chunks,
                    const std::vector<ChunkCost>& units, const IterationPlanOptions& options) {
  CHECK(schedule.ranks == job.layout.pp && schedule.model_stages() == job.layout.stages(),
        "schedule for {} ranks and {} stages, layout with {} and {}", schedule.ranks,
        schedule.model_stages(), job.layout.pp, job.layout.stages());
  CHECK(std::ssize(chunks) == schedule.model_stages(), "{} chunk costs for {} stages",
        chunks.size(), schedule.model_stages());
  const IterationContext ctx(job, schedule, chunks, units, options);
  Plan plan;
  plan.ranks = job.layout.ranks();
  plan.iterations = options.iterations * schedule.iterations;
  std::vector<PipelineRankGroups> groups(job.layout.pp);
  for (int pp = 0; pp < job.layout.pp; ++pp) {
    for (int a = 0; a < kReplicaAxes; ++a) {
      const auto axis = static_cast<ReplicaAxis>(a);
      const ReplicaNetwork& network = ctx.data_parallel.network();
      if (!network.uses(axis)) continue;
      groups[pp].replicas[a] = add_groups(ctx, network.lattice(axis), network.shape(pp, axis),
                                          Category::dp, ctx.rank(pp, 0), plan);
    }
  }
  for (int pp = 0; pp < job.layout.pp; ++pp) {
    const GradientPartner& partner = ctx.partners[pp];
    if (partner.rank <= pp) continue;
    groups[pp].partner = groups[partner.rank].partner =
        add_groups(ctx, partner.lattice, partner.shape, Category::pp, ctx.rank(pp, 0), plan);
  }
  if (plan.ranks > 1 && schedule.iterations == 1 && !ctx.data_parallel.crosses()) {
    const GroupSlot world = add_world_group(ctx, plan);
    for (PipelineRankGroups& of_rank : groups) of_rank.world = world;
  }
  for (const int tier : options.due_snapshots) {
    std::vector<GroupSlot> slots = add_code_groups(job, job.snapshots[tier], plan);
    for (std::size_t pp = 0; pp < slots.size(); ++pp) {
      groups[pp].codes.emplace(tier, std::move(slots[pp]));
    }
  }
  for (int pp = 0; pp < job.layout.pp; ++pp) {
    plan.classes.push_back(pipeline_rank(ctx, pp, std::move(groups[pp])));
  }
  return plan;
}

}  // namespace windtunnel
