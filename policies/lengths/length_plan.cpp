#include "policies/lengths/length_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/op/block_cost.hpp"
#include "models/results/iteration_report.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/exchange/data_parallel.hpp"
#include "policies/filling/fill_plan.hpp"
#include "policies/lowering/pipeline_rank.hpp"
#include "policies/outer/outer_exchange.hpp"
#include "policies/protection/snapshot_tasks.hpp"

namespace windtunnel {
namespace {

constexpr double kMostTokens = 5e8;  // of a pack, so that ints hold them

int pool_of(const Job& job) {
  return job.layout.cp * job.layout.dp;
}

double fixed_tokens_per_gpu(const Job& job) {
  return double(job.batch.micro) * job.batch.sequence / job.layout.cp;
}

// Forward and backward of every unit on one stage.
Schedule one_stage(int units) {
  Schedule schedule;
  schedule.name = "1f1b";
  schedule.ranks = 1;
  schedule.microbatches = 1;
  schedule.slices = units;
  schedule.rank_of_stage = {0};
  schedule.actions.resize(1);
  for (int unit = 0; unit < units; ++unit) {
    schedule.actions[0].push_back({ActionKind::forward, 0, unit});
    schedule.actions[0].push_back({ActionKind::backward, 0, unit});
  }
  return schedule;
}

// One micro-batch of this cost.
PreparedIteration prepared_of(const Job& job, const ChunkCost& chunk) {
  PreparedIteration prepared;
  prepared.schedule = one_stage(1);
  prepared.chunks = prepared.units = {chunk};
  prepared.peak_activation_bytes = {chunk.activation_bytes};
  prepared.memory = iteration_memory(job, prepared);
  return prepared;
}

// Whether sequences can be shared by so many ranks.
bool takes_degree(const Job& job, int ranks) {
  Layout layout;
  layout.tp = job.layout.tp;
  layout.cp = ranks;
  layout.context = job.layout.context;
  layout.sequence_parallel = job.layout.sequence_parallel;
  const int group = layout.ranks();
  try {
    check_layout(job.model, layout, {.global = 1, .micro = 1, .sequence = 2 * group}, group,
                 job.cluster.node.gpus);
  } catch (const Error&) {
    return false;
  }
  return true;
}

std::vector<int> degrees_of(const Job& job) {
  std::vector<int> degrees;
  for (int ranks = 1; ranks <= pool_of(job) && takes_degree(job, ranks); ranks *= 2) {
    degrees.push_back(ranks);
  }
  return degrees;
}

// Packs, and where each is charged.
std::shared_ptr<const BalancedBatch> batch_of(const Job& job, const LengthCosts& costs,
                                              const std::vector<int>& lengths, LengthPlan plan) {
  auto batch = std::make_shared<BalancedBatch>();
  batch->gpus = pool_of(job);
  batch->plan = std::move(plan);
  for (const std::vector<LengthPack>& round : batch->plan.rounds) {
    std::vector<ChunkCost>& chunks = batch->costs.emplace_back();
    for (const LengthPack& pack : round) {
      double squares = 0;
      for (const int sequence : pack.sequences)
        squares += double(lengths[sequence]) * lengths[sequence];
      chunks.push_back(costs.pack(pack.degree, pack.tokens, squares, pack.attention));
    }
  }
  const ChunkCost& any = batch->costs.front().front();
  batch->idle.parameters = any.parameters;
  return batch;
}

std::shared_ptr<const BalancedBatch> balanced_batch(const Job& job) {
  const std::vector<int> lengths = step_lengths(job);
  const double fixed_tokens = fixed_tokens_per_gpu(job);
  const auto fixed = [&] {
    const LengthCosts costs(job, {job.layout.cp}, fixed_tokens);
    return batch_of(job, costs, lengths,
                    balance_lengths(LengthPolicy::fixed, lengths, job.batch.sequence, costs));
  };
  if (job.lengths->policy == LengthPolicy::fixed) return fixed();
  const double room = tokens_per_gpu(job);
  // Where both hold, a pack of the fixed plan costs the same under either.
  const LengthCosts costs(job, degrees_of(job), room, std::min(room, fixed_tokens));
  auto batch = batch_of(job, costs, lengths,
                        balance_lengths(job.lengths->policy, lengths, job.batch.sequence, costs));
  if (job.lengths->policy == LengthPolicy::flexsp && fixed_tokens <= room) {
    if (auto other = fixed(); other->plan.seconds < batch->plan.seconds) return other;
  }
  return batch;
}

// What stands for all packs: their mean time, the memory of the fullest.
ChunkCost mean_of(const Job& job, const BalancedBatch& batch) {
  ChunkCost mean = batch.idle;
  double packs = 0;
  for (const auto& round : batch.costs) packs += static_cast<double>(round.size());
  for (std::size_t r = 0; r < batch.costs.size(); ++r) {
    for (std::size_t p = 0; p < batch.costs[r].size(); ++p) {
      const ChunkCost& pack = batch.costs[r][p];
      const std::size_t ranks = batch.plan.rounds[r][p].ranks;
      add_costs(mean.forward, pack.forward, 1 / packs);
      add_costs(mean.backward_input, pack.backward_input, 1 / packs);
      add_costs(mean.backward_weight, pack.backward_weight, 1 / packs);
      add_costs(mean.recompute, pack.recompute, 1 / packs);
      mean.activation_bytes = std::max(mean.activation_bytes, pack.activation_bytes);
      mean.transient_bytes = std::max(mean.transient_bytes, pack.transient_bytes);
      // Reports multiply by the micro-batches of all ranks.
      const double part = double(ranks) / batch.gpus / microbatches(job.layout, job.batch);
      mean.hardware_flops += pack.hardware_flops * part;
      mean.masked_flops += pack.masked_flops * part;
    }
  }
  return mean;
}

// A pack of a round; -1: none.
using Place = std::pair<int, int>;

// [GPU of the pool] in their order.
std::vector<std::vector<Place>> places_of(const BalancedBatch& batch, bool in_lockstep) {
  const std::vector<std::vector<LengthPack>>& rounds = batch.plan.rounds;
  std::vector<std::vector<Place>> places(batch.gpus);
  for (int r = 0; r < std::ssize(rounds); ++r) {
    for (int p = 0; p < std::ssize(rounds[r]); ++p) {
      const LengthPack& pack = rounds[r][p];
      for (int gpu = pack.first; gpu < pack.first + pack.ranks; ++gpu) {
        places[gpu].emplace_back(r, p);
      }
    }
    for (std::vector<Place>& own : places) {
      const bool idle = own.empty() || own.back().first < r;
      if (idle && rounds.size() > 1) own.emplace_back(r, -1);
    }
  }
  std::size_t most = 1;
  for (const std::vector<Place>& own : places) most = std::max(most, own.size());
  for (std::vector<Place>& own : places) {
    // In front, so that the last reductions run beside a backward pass.
    if (in_lockstep) own.insert(own.begin(), most - own.size(), {0, -1});
    if (own.empty()) own.emplace_back(0, -1);
  }
  return places;
}

class PlanBuilder {
 public:
  PlanBuilder(const Job& job, const PreparedIteration& prepared, const BalancedBatch& batch,
              const IterationPlanOptions& options)
      : job_(job),
        prepared_(prepared),
        batch_(batch),
        options_(options),
        data_(job, prepared.schedule, prepared.units, overlapped_slowdown(job)),
        alone_(plan_, job.cluster) {
    plan_.ranks = job.layout.ranks();
    plan_.iterations = options.iterations;
    plan_.draw = options.draw;
    plan_.in_step = job.layout.tp;
    add_common_groups();
  }

  Plan build() {
    std::map<std::vector<Place>, std::vector<int>> gpus_of;
    const bool in_lockstep = job_.layout.sharding >= Sharding::zero2;
    const auto places = places_of(batch_, in_lockstep);
    std::vector<const std::vector<Place>*> order;
    for (int gpu = 0; gpu < batch_.gpus; ++gpu) {
      const auto [known, is_new] = gpus_of.try_emplace(places[gpu]);
      if (is_new) order.push_back(&known->first);
      known->second.push_back(gpu);
    }
    for (const std::vector<Place>* own : order) add_class(*own, gpus_of.at(*own));
    return std::move(plan_);
  }

 private:
  void add_common_groups() {
    const ReplicaNetwork& network = data_.network();
    for (int a = 0; a < kReplicaAxes; ++a) {
      const auto axis = static_cast<ReplicaAxis>(a);
      if (!network.uses(axis)) continue;
      common_.replicas[a] = add_groups(network.groups(axis), network.shape(0, axis), Category::dp,
                                       0, plan_.ranks, plan_);
    }
    if (plan_.ranks > 1 && !data_.crosses()) {
      common_.world = add_world_groups(job_.layout, data_.geometry().world(), plan_);
    }
    for (const int tier : options_.due_snapshots) {
      std::vector<GroupSlot> slots = add_code_groups(job_, job_.snapshots[tier], plan_);
      if (!slots.empty()) common_.codes.emplace(tier, std::move(slots.front()));
    }
  }

  GroupSlot of_members(const GroupSlot& all, const std::vector<RankId>& ranks) const {
    GroupSlot slot{{}, all.shape};
    for (const RankId rank : ranks) {
      slot.instance_of_member.push_back(all.instance_of_member[rank]);
    }
    return slot;
  }

  // Adds tp groups, each of the ranks with equal tp on `gpus` from `first` on; returns the first.
  std::int32_t meeting_groups(int first, int gpus) {
    const auto [known, is_new] =
        rendezvous_.try_emplace({first, gpus}, static_cast<std::int32_t>(plan_.groups.size()));
    if (is_new) {
      const int tp = job_.layout.tp;
      for (int lane = 0; lane < tp; ++lane) {
        Group& group = plan_.groups.emplace_back(Group{Category::cp, {}});
        for (int gpu = first; gpu < first + gpus; ++gpu) group.members.push_back(gpu * tp + lane);
      }
    }
    return known->second;
  }

  // What the packs wait for: all of a round for the one before, the ranks of a pack for each other.
  std::vector<std::vector<int>> add_rendezvous(const std::vector<Place>& places,
                                               const std::vector<int>& gpus,
                                               PipelineRankGroups& groups) {
    std::vector<std::int32_t> known;  // first of its groups
    const auto slot_of = [&](int first, int count) {
      const std::int32_t base = meeting_groups(first, count);
      const auto found = std::ranges::find(known, base);
      if (found != known.end()) return static_cast<int>(found - known.begin());
      known.push_back(base);
      std::vector<std::int32_t>& slot = groups.rendezvous.emplace_back();
      for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
        for (int lane = 0; lane < job_.layout.tp; ++lane) slot.push_back(base + lane);
      }
      return static_cast<int>(known.size()) - 1;
    };
    std::vector<std::vector<int>> rendezvous;
    for (const auto& [round, index] : places) {
      std::vector<int>& own = rendezvous.emplace_back();
      if (round > 0) own.push_back(slot_of(0, batch_.gpus));
      if (index < 0) continue;
      const LengthPack& pack = batch_.plan.rounds[round][index];
      if (pack.ranks > 1) own.push_back(slot_of(pack.first, pack.ranks));
    }
    return rendezvous;
  }

  void add_class(const std::vector<Place>& places, const std::vector<int>& gpus) {
    std::vector<RankId> ranks;
    for (const int gpu : gpus) {
      for (int lane = 0; lane < job_.layout.tp; ++lane)
        ranks.push_back(gpu * job_.layout.tp + lane);
    }
    PipelineRankGroups groups;
    for (int a = 0; a < kReplicaAxes; ++a) {
      if (common_.replicas[a]) groups.replicas[a] = of_members(*common_.replicas[a], ranks);
    }
    if (common_.world) groups.world = of_members(*common_.world, ranks);
    for (const auto& [tier, slot] : common_.codes) {
      groups.codes.emplace(tier, of_members(slot, ranks));
    }
    std::vector<ChunkCost> units;
    for (const auto& [round, index] : places) {
      units.push_back(index < 0 ? batch_.idle : batch_.costs[round][index]);
    }
    const Schedule schedule = one_stage(static_cast<int>(units.size()));
    IterationContext ctx(job_, schedule, prepared_.chunks, units, options_, data_,
                         whole_pipeline_rank(job_.layout));
    if (options_.outer) {
      const OuterExchange exchange(job_, schedule, prepared_.chunks, data_.network());
      ctx.outer = {exchange.row(options_.outer->level, 0)};
    }
    ctx.rendezvous = add_rendezvous(places, gpus, groups);
    RankClass& added = plan_.classes.emplace_back(pipeline_rank(ctx, 0, std::move(groups), alone_));
    added.name = gpus.size() == 1 ? fmt::format("cp x dp {}", gpus.front())
                                  : fmt::format("cp x dp {} to {}", gpus.front(), gpus.back());
    added.members = std::move(ranks);
  }

  const Job& job_;
  const PreparedIteration& prepared_;
  const BalancedBatch& batch_;
  const IterationPlanOptions& options_;
  const DataParallel data_;
  Plan plan_;
  GroupsAlone alone_;
  PipelineRankGroups common_;  // of all ranks
  std::map<std::pair<int, int>, std::int32_t> rendezvous_;
};

[[noreturn]] void fail(std::string_view key, const std::string& what) {
  throw Error::of_key(key, "{}", what);
}

void check_distribution(const Job& job) {
  try {
    draw_lengths(job.lengths->distribution, 0, 0);
  } catch (const Error& error) {
    fail("batch.lengths", fmt::format(": {}", error.what()));
  }
  const LengthDistribution& distribution = job.lengths->distribution;
  double longest = distribution.buckets.empty() ? distribution.longest : 0;
  for (const LengthBucket& bucket : distribution.buckets) {
    longest = std::max(longest, bucket.longest);
  }
  if (longest > job.batch.sequence) {
    fail("batch.lengths", fmt::format(": sequences of up to {:.0f} tokens, but batch.sequence, the "
                                      "longest that may come, is {}",
                                      longest, job.batch.sequence));
  }
}

// What groups of different degrees ask for.
void check_groups(const Job& job) {
  const double room = tokens_per_gpu(job);
  if (room < 1) {
    const double state = least_lengths(job).memory.front().total();
    fail("layout.sharding",
         fmt::format(": without a token the training state, its buffers and the framework are {} "
                     "of a GPU's {}, which leaves no room for tokens",
                     format_memory(state), format_memory(usable_bytes(job.cluster.node.gpu))));
  }
  const int widest = degrees_of(job).back();
  if (job.batch.sequence > room * widest) {
    fail("batch.sequence",
         fmt::format(": one of {} tokens takes {:.0f} GPUs with room for {:.0f} "
                     "tokens each; a group has {} at most here (the cp x dp ranks that divide the "
                     "heads, a power of two)",
                     job.batch.sequence, std::ceil(job.batch.sequence / room), room, widest));
  }
}

}  // namespace

void check_lengths(const Job& job) {
  check_conflicts(length_conflicts(), job);
  check_distribution(job);
  if (job.lengths->policy != LengthPolicy::fixed) check_groups(job);
}

double tokens_per_gpu(const Job& job) {
  const double usable = usable_bytes(job.cluster.node.gpu);
  const int widest = degrees_of(job).back();
  const auto free_bytes = [&](double tokens) {
    const ChunkCost chunk = chunk_costs(job_of_degree(job, widest, widest * tokens)).front();
    return usable - prepared_of(job, chunk).memory.front().total();
  };
  if (free_bytes(1) < 0) return 0;
  // Linear but for what lives only at the end of a step, which activations may cover.
  const double most = kMostTokens / widest;
  double tokens = std::min(most, 8192.0);
  for (int i = 0; i < 4; ++i) {
    const double half = free_bytes(tokens / 2);
    const double slope = (half - free_bytes(tokens)) / (tokens / 2);
    if (slope <= 0) return most;
    tokens = std::clamp(tokens / 2 + half / slope, 1.0, most);
  }
  tokens = std::floor(tokens);
  while (tokens > 1 && free_bytes(tokens) < 0) tokens = std::floor(0.99 * tokens);
  return tokens;
}

PreparedIteration prepare_lengths(const Job& job) {
  const auto batch = balanced_batch(job);
  PreparedIteration prepared = prepared_of(job, mean_of(job, *batch));
  prepared.balanced = batch;
  return prepared;
}

LeastIteration least_lengths(const Job& job) {
  ChunkCost state;
  state.parameters = chunk_costs(job).front().parameters;
  return {0, prepared_of(job, state).memory};
}

Plan plan_lengths(const Job& job, const PreparedIteration& prepared,
                  const IterationPlanOptions& options) {
  if (prepared.balanced->gpus == pool_of(job)) {
    return PlanBuilder(job, prepared, *prepared.balanced, options).build();
  }
  const PreparedIteration smaller = prepare_lengths(job);
  return PlanBuilder(job, smaller, *smaller.balanced, options).build();
}

IterationEstimate estimate_lengths(const Job& job, const PreparedIteration& prepared) {
  Job closed = job;
  closed.communication.fidelity = Fidelity::closed;
  Plan plan = plan_lengths(closed, prepared, {});
  const int draws = job.cluster.jitter.active() ? job.cluster.jitter.draws : 1;
  IterationEstimate estimate;
  for (plan.draw = 0; plan.draw < draws; ++plan.draw) {
    Plan own = plan;
    const Timeline timeline = evaluate_filled(job, prepared.memory, own);
    estimate.step_s += iteration_s(job, own, timeline) / draws;
  }
  // The class that computes longest; what it waits for beside that is data parallelism.
  std::vector<CostPart> parts;
  for (const RankClass& owner : plan.classes) {
    std::vector<CostPart> own;
    for (const Task& task : owner.tasks) {
      if (task.kind == TaskKind::compute) add_costs(own, task.cost, 1);
    }
    if (total_seconds(own) > total_seconds(parts)) parts = std::move(own);
  }
  const LinkTable links = LinkTable::keeping_reference(job.cluster);
  const Origin waits = ReplicaNetwork(job, links).origin(job, 0, world_shape(job.layout, links));
  parts.push_back({Category::dp, waits, estimate.step_s - total_seconds(parts)});
  for (const CostPart& part : parts) {
    estimate.seconds[static_cast<int>(part.category)] += part.seconds;
    estimate.origin_s[static_cast<int>(part.origin)] += part.seconds;
  }
  return estimate;
}

}  // namespace windtunnel
