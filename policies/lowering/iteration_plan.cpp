#include "policies/lowering/iteration_plan.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "models/base/error.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/cost/parallel/expert_parallel.hpp"
#include "models/network/groups/parallel_groups.hpp"
#include "policies/evaluation/dispatch.hpp"
#include "policies/lowering/kind_cost.hpp"
#include "policies/lowering/pipeline_rank.hpp"
#include "policies/lowering/unit_cost.hpp"
#include "policies/outer/outer_exchange.hpp"
#include "policies/protection/snapshot_tasks.hpp"

namespace windtunnel {
namespace {

// Returns the groups among the `members` consecutive ranks of a pipeline rank. Groups of a mesh are
// not strided.
StridedGroups inner_groups(const Job& job, InnerGroup group, int members) {
  const Layout& layout = job.layout;
  const int side = layout.mesh_side();
  const auto strided = [&](int count, int stride) {
    return StridedGroups{stride, count, stride, members / (stride * count)};
  };
  switch (group) {
    case InnerGroup::tensor:
      return strided(side == 1 ? layout.tp : 1, 1);
    case InnerGroup::mesh_row:
    case InnerGroup::mesh_column:
      return {};
    case InnerGroup::context_exchange:
      return strided(layout.exchange_ranks(), layout.tp);
    case InnerGroup::context_ring:
      return strided(layout.ring_ranks(), layout.tp * layout.exchange_ranks());
    case InnerGroup::expert:
      return strided(layout.ep, layout.expert_stride());
  }
  return {};
}

// Returns the number of consecutive ranks that have one pace, because the time of their passes
// contains their collectives. Collectives that are tasks synchronise ranks by themselves.
int ranks_of_one_pace(const Layout& layout, const InnerTasks& inner) {
  int ranks = layout.tp;
  if (layout.cp > 1 && !inner.cp) {
    ranks *= layout.cp;
  } else if (inner.tp) {
    ranks = 1;
  }
  return inner.ep ? ranks : std::lcm(ranks, layout.ep * layout.expert_stride());
}

// The contexts of the replicas of each kind. If nodes are alike, there is one for all replicas.
struct ReplicaContexts {
  // Keeps references.
  ReplicaContexts(const Job& job, const PreparedIteration& prepared,
                  const IterationPlanOptions& options, const DataParallel& data_parallel) {
    const bool only = prepared.kinds.size() == 1;  // it stands for all replicas
    for (const ReplicaCosts& own : prepared.kinds) {
      IterationContext& context =
          contexts.emplace_back(job, own.schedule, own.chunks, own.units, options,
                                exchanges_of(job, own, prepared.geometry, data_parallel),
                                only ? whole_pipeline_rank(job.layout) : own.members);
      context.name = own.name;
      context.pools = own.kind.pools;
      if (context.input) context.input->of_unit = own.samples;
      if (!own.packed()) {
        rounds.push_back(unit_rounds(job, own.kind, own.schedule));
      } else {  // here the time of passes contains their collectives
        add_meetings(own, context);
      }
    }
    if (contexts.empty()) {
      contexts.emplace_back(job, prepared.schedule, prepared.chunks, prepared.units, options,
                            data_parallel, whole_pipeline_rank(job.layout));
      rounds.push_back(unit_rounds(job, prepared.schedule));
    }
    if (options.outer) {
      for (IterationContext& context : contexts) {
        const OuterExchange exchange(job, context.schedule, prepared.chunks,
                                     data_parallel.network());
        for (int pp = 0; pp < job.layout.pp; ++pp) {
          context.outer.push_back(exchange.row(options.outer->level, pp));
        }
      }
    }
    // If collectives of one kind of replicas are tasks, all are, because kinds share groups.
    for (const std::vector<ChunkRounds>& of_kind : rounds) {
      inner.add(inner_tasks(job, of_kind));
    }
    for (std::size_t k = 0; k < contexts.size() && inner.any(); ++k) {
      contexts[k].take_apart(rounds[k], inner);
    }
    const bool all_alone = job.layout.ranks() == job.layout.pp;
    for (IterationContext& context : contexts) {
      context.gang = job.software.dispatch_gang != DispatchGang::none && !all_alone;
    }
  }

  static void add_meetings(const ReplicaCosts& packs, IterationContext& context) {
    for (const std::vector<MeetingGpus>& of_unit : packs.meets) {
      std::vector<int>& own = context.rendezvous.emplace_back();
      for (const MeetingGpus& gpus : of_unit) {
        const auto known = std::ranges::find(context.meetings, gpus);
        own.push_back(static_cast<int>(known - context.meetings.begin()));
        if (known == context.meetings.end()) context.meetings.push_back(gpus);
      }
    }
  }

  bool gang() const { return contexts.front().gang; }

  // Returns the exchanges of the kind's replicas. They have the same collectives as all others, but
  // may have different copies to and from the host.
  const DataParallel& exchanges_of(const Job& job, const ReplicaCosts& kind,
                                   const SharedGeometry& geometry, const DataParallel& of_all) {
    if (!offload_of(job).any() || kind.packed()) return of_all;
    const Job& own = jobs.emplace_back(job_of_kind(job, kind.kind, -1));
    return exchanges.emplace_back(own, kind.schedule, kind.units, overlapped_slowdown(job),
                                  geometry);
  }

  std::deque<Job> jobs;                   // the jobs of `exchanges`
  std::deque<DataParallel> exchanges;     // one for each kind with different copies
  std::deque<IterationContext> contexts;  // a deque, because contexts cannot be moved
  std::deque<std::vector<ChunkRounds>> rounds;
  InnerTasks inner;
};

// Adds the communicators of each pipeline rank's members. `flushes`: iterations end with a flush.
std::vector<PipelineRankGroups> add_all_groups(const Job& job, const ReplicaContexts& replicas,
                                               bool flushes, const IterationPlanOptions& options,
                                               Plan& plan) {
  const IterationContext& ctx = replicas.contexts.front();
  const InnerTasks inner = replicas.inner;
  const int members = job.layout.ranks() / job.layout.pp;
  std::vector<PipelineRankGroups> groups(job.layout.pp);
  for (int pp = 0; pp < job.layout.pp; ++pp) {
    for (int a = 0; a < kReplicaAxes; ++a) {
      const auto axis = static_cast<ReplicaAxis>(a);
      const ReplicaNetwork& network = ctx.data_parallel.network();
      if (!network.uses(axis)) continue;
      groups[pp].replicas[a] = add_groups(network.groups(axis), network.shape(pp, axis),
                                          Category::dp, pp * members, members, plan);
    }
  }
  for (int pp = 0; pp < job.layout.pp && inner.any(); ++pp) {
    for (const InnerGroup g : {InnerGroup::mesh_row, InnerGroup::mesh_column}) {
      if (job.layout.mesh_side() == 1) continue;
      groups[pp].inner[static_cast<int>(g)] =
          add_groups(mesh_groups(job.layout, g == InnerGroup::mesh_row, members), {}, axis_of(g),
                     pp * members, members, plan);
    }
    for (int g = 0; g < kInnerGroups; ++g) {
      const StridedGroups of_kind = inner_groups(job, static_cast<InnerGroup>(g), members);
      if (of_kind.count == 1) continue;
      groups[pp].inner[g] =
          add_groups(of_kind, {}, axis_of(static_cast<InnerGroup>(g)), pp * members, members, plan);
    }
  }
  for (int pp = 0; pp < job.layout.pp; ++pp) {
    const GradientPartner& partner = ctx.partners[pp];
    if (partner.rank <= pp) continue;
    groups[pp].partner = groups[partner.rank].partner =
        add_groups(partner.groups, partner.shape, Category::pp, pp * members, members, plan);
  }
  if (plan.ranks > 1 && flushes && !ctx.data_parallel.crosses()) {
    const GroupSlot world =
        add_world_groups(job.layout, ctx.data_parallel.geometry().world(), plan);
    for (PipelineRankGroups& of_rank : groups) of_rank.world = world;
  }
  for (int pp = 0; pp < job.layout.pp && replicas.gang(); ++pp) {
    groups[pp].rendezvous = {
        add_groups(gangs(job, pp, members), {}, Category::wait, pp * members, members, plan)
            .instance_of_member};
  }
  for (const int tier : options.due_snapshots) {
    std::vector<GroupSlot> slots = add_code_groups(job, job.snapshots[tier], plan);
    for (std::size_t pp = 0; pp < slots.size(); ++pp) {
      groups[pp].codes.emplace(tier, std::move(slots[pp]));
    }
  }
  return groups;
}

// Groups that begin passes together: GPUs of a pipeline rank with the same place in tp groups.
class MeetingGroups {
 public:
  MeetingGroups(const Job& job, Plan& plan) : layout_(job.layout), plan_(plan) {}

  // Adds the groups in which the members of a pipeline rank meet.
  void add(const IterationContext& context, int pp, PipelineRankGroups& groups) {
    for (const MeetingGpus& gpus : context.meetings) {
      const std::int32_t first = first_of(pp, gpus);
      std::vector<std::int32_t>& slot = groups.rendezvous.emplace_back();
      for (const int member : context.members) slot.push_back(first + member % layout_.tp);
    }
  }

 private:
  // Returns the index of the first group of these GPUs. There is one group for each rank of tp.
  std::int32_t first_of(int pp, const MeetingGpus& gpus) {
    const auto [known, is_new] =
        known_.try_emplace({pp, gpus.first, gpus.count}, std::int32_t(plan_.groups.size()));
    for (int lane = 0; is_new && lane < layout_.tp; ++lane) {
      Group& group = plan_.groups.emplace_back(Group{Category::cp, {}});
      for (int gpu = gpus.first; gpu < gpus.first + gpus.count; ++gpu) {
        group.members.push_back((pp * layout_.cp * layout_.dp + gpu) * layout_.tp + lane);
      }
    }
    return known->second;
  }

  const Layout& layout_;
  Plan& plan_;
  std::map<std::tuple<int, int, int>, std::int32_t> known_;
};

}  // namespace

Plan plan_iteration(const Job& job, const PreparedIteration& prepared,
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
  const ReplicaContexts replicas(job, prepared, options, data_parallel);
  const InnerTasks inner = replicas.inner;
  Plan plan;
  plan.ranks = job.layout.ranks();
  plan.iterations = options.iterations * schedule.iterations;
  plan.draw = options.draw;
  // Packs of one pass run in separate groups, each at a separate pace.
  plan.in_step = prepared.balanced ? job.layout.tp : ranks_of_one_pace(job.layout, inner);
  if (inner.ep) plan.exchanges = expert_exchanges(job);
  const std::vector<PipelineRankGroups> groups =
      add_all_groups(job, replicas, schedule.iterations == 1, options, plan);
  GroupsAlone alone(plan, job.cluster);
  const CollectiveCosts& costs = data_parallel.collective_costs();
  MeetingGroups meetings(job, plan);
  for (int pp = 0; pp < job.layout.pp; ++pp) {
    for (const IterationContext& of_kind : replicas.contexts) {
      PipelineRankGroups own = of_members(groups[pp], of_kind.members);
      meetings.add(of_kind, pp, own);
      const std::size_t about = plan.classes.empty() ? 0 : plan.classes.back().tasks.size();
      plan.classes.push_back(pipeline_rank(of_kind, pp, std::move(own), alone, costs, about));
      if (!of_kind.name.empty()) plan.classes.back().name += ", " + of_kind.name;
    }
  }
  return plan;
}

}  // namespace windtunnel
