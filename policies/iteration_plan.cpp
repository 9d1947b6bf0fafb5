#include "policies/iteration_plan.hpp"

#include <numeric>
#include <utility>

#include "models/base/error.hpp"
#include "policies/pipeline_rank.hpp"

namespace windtunnel {
namespace {

// The shape that decides the closed form is the worst of the groups from `first` on: all members
// run one task list.
GroupSlot slot_of(const IterationContext& ctx, std::vector<std::int32_t> instance_of_member,
                  const Plan& plan, std::int32_t first) {
  WorstShape worst(ctx.job.cluster);
  for (std::size_t g = first; g < plan.groups.size(); ++g) worst.add(plan.groups[g].members);
  return {std::move(instance_of_member), worst.shape(), plan.groups[first].members};
}

// Ranks that hold the same parameters: equal tp and pp, any cp and dp.
GroupSlot add_replica_groups(const IterationContext& ctx, int pp, Plan& plan) {
  const int tp = ctx.job.layout.tp;
  const auto first = static_cast<std::int32_t>(plan.groups.size());
  for (int t = 0; t < tp; ++t) {
    Group group{Category::dp, {}};
    for (int i = 0; i < ctx.replicas; ++i) group.members.push_back(ctx.rank(pp, i * tp + t));
    plan.groups.push_back(std::move(group));
  }
  std::vector<std::int32_t> instance(ctx.members);
  for (int m = 0; m < ctx.members; ++m) instance[m] = first + m % tp;
  GroupSlot slot = slot_of(ctx, std::move(instance), plan, first);
  slot.shape = among_concurrent(slot.shape, ctx.job.cluster.node);  // all tp ranks reduce at once
  return slot;
}

// The first and the last pipeline rank hold the tied embedding.
GroupSlot add_embedding_groups(const IterationContext& ctx, Plan& plan) {
  const int last = ctx.job.layout.pp - 1;
  const auto first = static_cast<std::int32_t>(plan.groups.size());
  std::vector<std::int32_t> instance(ctx.members);
  for (int m = 0; m < ctx.members; ++m) {
    plan.groups.push_back({Category::pp, {ctx.rank(0, m), ctx.rank(last, m)}});
    instance[m] = first + m;
  }
  GroupSlot slot = slot_of(ctx, std::move(instance), plan, first);
  slot.shape = among_concurrent(slot.shape, ctx.job.cluster.node);
  return slot;
}

GroupSlot add_world_group(const IterationContext& ctx, Plan& plan) {
  const auto world = static_cast<std::int32_t>(plan.groups.size());
  Group group{Category::dp, std::vector<RankId>(plan.ranks)};
  std::iota(group.members.begin(), group.members.end(), 0);
  plan.groups.push_back(std::move(group));
  return slot_of(ctx, std::vector(ctx.members, world), plan, world);
}

}  // namespace

Plan iteration_plan(const Job& job, const Schedule& schedule, const std::vector<ChunkCost>& chunks,
                    const IterationPlanOptions& options) {
  CHECK(schedule.ranks == job.layout.pp && schedule.chunks == job.layout.vpp,
        "schedule for {} x {} stages, layout with {} x {}", schedule.ranks, schedule.chunks,
        job.layout.pp, job.layout.vpp);
  CHECK(std::ssize(chunks) == schedule.stages(), "{} chunk costs for {} stages", chunks.size(),
        schedule.stages());
  const IterationContext ctx(job, schedule, chunks, options);
  Plan plan;
  plan.ranks = job.layout.ranks();
  plan.iterations = options.iterations;
  std::vector<PipelineRankGroups> groups(job.layout.pp);
  for (int pp = 0; pp < job.layout.pp && ctx.replicas > 1; ++pp) {
    groups[pp].replicas = add_replica_groups(ctx, pp, plan);
  }
  if (job.model.tied_embeddings && job.layout.pp > 1) {
    groups.front().embedding = groups.back().embedding = add_embedding_groups(ctx, plan);
  }
  if (plan.ranks > 1) {
    const GroupSlot world = add_world_group(ctx, plan);
    for (PipelineRankGroups& of_rank : groups) of_rank.world = world;
  }
  for (int pp = 0; pp < job.layout.pp; ++pp) {
    plan.classes.push_back(pipeline_rank(ctx, pp, std::move(groups[pp])));
  }
  return plan;
}

}  // namespace windtunnel
