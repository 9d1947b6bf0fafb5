#include "policies/lowering/iteration_plan.hpp"

#include <utility>

#include "models/base/error.hpp"
#include "policies/lowering/pipeline_rank.hpp"
#include "policies/protection/snapshot_tasks.hpp"

namespace windtunnel {

Plan plan_microbatches(const Job& job, const PreparedIteration& prepared,
                       const IterationPlanOptions& options) {
  const Schedule& schedule = prepared.schedule;
  const std::vector<ChunkCost>& chunks = prepared.chunks;
  CHECK(schedule.ranks == job.layout.pp && schedule.model_stages() == job.layout.stages(),
        "schedule for {} ranks and {} stages, layout with {} and {}", schedule.ranks,
        schedule.model_stages(), job.layout.pp, job.layout.stages());
  CHECK(std::ssize(chunks) == schedule.model_stages(), "{} chunk costs for {} stages",
        chunks.size(), schedule.model_stages());
  const DataParallel data_parallel(job, schedule, prepared.units, overlapped_slowdown(job),
                                   prepared.geometry);
  const IterationContext ctx(job, schedule, chunks, prepared.units, options, data_parallel);
  Plan plan;
  plan.ranks = job.layout.ranks();
  plan.iterations = options.iterations * schedule.iterations;
  std::vector<PipelineRankGroups> groups(job.layout.pp);
  for (int pp = 0; pp < job.layout.pp; ++pp) {
    for (int a = 0; a < kReplicaAxes; ++a) {
      const auto axis = static_cast<ReplicaAxis>(a);
      const ReplicaNetwork& network = ctx.data_parallel.network();
      if (!network.uses(axis)) continue;
      groups[pp].replicas[a] = add_groups(network.groups(axis), network.shape(pp, axis),
                                          Category::dp, ctx.rank(pp, 0), ctx.members, plan);
    }
  }
  for (int pp = 0; pp < job.layout.pp; ++pp) {
    const GradientPartner& partner = ctx.partners[pp];
    if (partner.rank <= pp) continue;
    groups[pp].partner = groups[partner.rank].partner =
        add_groups(partner.groups, partner.shape, Category::pp, ctx.rank(pp, 0), ctx.members, plan);
  }
  if (plan.ranks > 1 && schedule.iterations == 1 && !ctx.data_parallel.crosses()) {
    GroupSlot world = add_world_group(data_parallel.geometry().world(), plan);
    world.instance_of_member.resize(ctx.members);  // one group, whoever asks
    for (PipelineRankGroups& of_rank : groups) of_rank.world = world;
  }
  for (const int tier : options.due_snapshots) {
    std::vector<GroupSlot> slots = add_code_groups(job, job.snapshots[tier], plan);
    for (std::size_t pp = 0; pp < slots.size(); ++pp) {
      groups[pp].codes.emplace(tier, std::move(slots[pp]));
    }
  }
  GroupsAlone alone(plan, job.cluster);
  for (int pp = 0; pp < job.layout.pp; ++pp) {
    plan.classes.push_back(pipeline_rank(ctx, pp, std::move(groups[pp]), alone));
  }
  return plan;
}

}  // namespace windtunnel
