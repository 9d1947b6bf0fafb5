#include "policies/lengths/length_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/op/block_cost.hpp"
#include "models/plan/pipeline_stages.hpp"
#include "models/results/iteration_report.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/evaluation/stage_cost.hpp"
#include "policies/exchange/data_parallel.hpp"
#include "policies/filling/fill_plan.hpp"
#include "policies/lengths/assignments.hpp"
#include "policies/lengths/length_pool.hpp"
#include "policies/lengths/pack_costs.hpp"
#include "policies/lengths/pack_passes.hpp"
#include "policies/lowering/iteration_plan.hpp"
#include "policies/lowering/kind_cost.hpp"
#include "policies/schedules/schedules.hpp"

namespace windtunnel {
namespace {

constexpr double kMostTokens = 5e8;  // tokens of a pack, so that ints hold them

// Returns a schedule in which packs are micro-batches, each in `slices` slices.
Schedule schedule_of(const Job& job, int packs, int slices) {
  ScheduleRequest request;
  request.ranks = job.layout.pp;
  request.chunks = job.layout.vpp;
  request.microbatches = packs;
  request.group = job.schedule.group;
  request.slices = slices;
  Schedule schedule = generate_schedule(schedule_kind(job.schedule), request);
  schedule.slice_shares.clear();  // slices have equally many tokens
  return schedule;
}

void add_memory(const Job& job, PreparedIteration& prepared) {
  const std::vector<StageCost> costs = stage_costs(prepared.units);
  prepared.peak_activation_bytes = evaluate_schedule(prepared.schedule, costs, 0).peak_activation;
  prepared.memory = iteration_memory(job, prepared);
}

// Prepares an iteration with as many equal packs as are in flight at once.
PreparedIteration prepared_of(const Job& job, std::vector<ChunkCost> chunks) {
  PreparedIteration prepared;
  const int under_way = job.layout.pp == 1 ? 1 : 2 * job.layout.stages();
  prepared.schedule = schedule_of(job, whole_groups(job, under_way), 1);
  prepared.chunks = std::move(chunks);
  prepared.units = prepared.chunks;
  add_memory(job, prepared);
  return prepared;
}

// GPUs of a class have the same passes, on nodes of the same pools.
struct GpuClass {
  PackPasses passes;
  std::vector<int> pools;  // [pipeline rank]; empty: all nodes are alike

  auto operator<=>(const GpuClass&) const = default;
};

std::vector<int> pools_of(const Job& job, int gpu, int gpus) {
  if (job.cluster.pools.empty()) return {};
  return pools_of_block(job, gpu * job.layout.tp, gpus * job.layout.tp);
}

// Returns for each stage what `of_pool` returns for the pool of its pipeline rank. `pools` is empty
// if all nodes are alike.
template <class OfPool>
std::vector<ChunkCost> by_stage(const Job& job, const std::map<int, PackCosts>& costs,
                                const std::vector<int>& pools, const OfPool& of_pool) {
  if (pools.empty()) return of_pool(costs.begin()->second);
  std::vector<int> of_stages;
  for (const int rank : looped_ranks(job.layout)) of_stages.push_back(pools[rank]);
  return costs_by_stage(of_stages, [&](int pool) { return of_pool(costs.at(pool)); });
}

// Returns the cost of a pass on the slowest of its GPUs, as [stage * slices + slice]: the others
// wait for it in every layer.
std::vector<ChunkCost> pass_units(const Job& job, const std::map<int, PackCosts>& costs,
                                  const LengthPlan& plan, const PackPass& pass,
                                  const GpuClass& own) {
  std::vector<int> pools = own.pools;
  if (pass.pack >= 0) {
    const LengthPack& pack = plan.rounds[pass.round][pass.pack];
    pools = pools_of(job, pack.first, pack.ranks);
  }
  return by_stage(job, costs, pools, [&](const PackCosts& on_pool) { return on_pool.of(pass); });
}

// Returns the costs of the GPUs of a class. Every slice of every pack is a separate unit.
ReplicaCosts replica_costs(const Job& job, const std::map<int, PackCosts>& costs,
                           const LengthPlan& plan, const GpuClass& of,
                           const std::vector<int>& gpus) {
  const int slices = job.schedule.slices;
  const int tp = job.layout.tp;
  const PackPasses& passes = of.passes;
  ReplicaCosts own;
  own.kind = kind_on(job, of.pools);
  own.name = gpus.size() == 1 ? fmt::format("cp x dp {}", gpus.front())
                              : fmt::format("cp x dp {} to {}", gpus.front(), gpus.back());
  own.chunks =
      by_stage(job, costs, of.pools, [](const PackCosts& on_pool) { return on_pool.mean(); });
  own.schedule = schedule_of(job, static_cast<int>(passes.size()), slices);
  own.schedule.slices *= std::exchange(own.schedule.microbatches, 1);
  own.units.resize(std::size_t(own.schedule.model_stages()) * own.schedule.slices);
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const PackPass& pass = passes[i];
    std::vector<ChunkCost> units = pass_units(job, costs, plan, pass, of);
    for (std::size_t u = 0; u < units.size(); ++u) {
      own.units[u / slices * own.schedule.slices + i * slices + u % slices] = std::move(units[u]);
    }
    double samples = 0;
    if (pass.pack >= 0) {
      const LengthPack& pack = plan.rounds[pass.round][pass.pack];
      samples = static_cast<double>(pack.sequences.size()) / (pack.ranks * tp);
    }
    for (int s = 0; s < slices; ++s) {
      own.meets.push_back(pass.meets);
      own.samples.push_back(s == 0 ? samples : 0);
    }
  }
  for (const int gpu : gpus) {
    for (int lane = 0; lane < tp; ++lane) own.members.push_back(gpu * tp + lane);
  }
  return own;
}

void add_memory_of_kinds(const Job& job, PreparedIteration& prepared) {
  if (job.cluster.pools.empty()) {
    prepared.memory = iteration_memory(job, prepared);
    return;
  }
  std::map<std::vector<int>, std::vector<GpuMemory>> by_pools;
  for (ReplicaCosts& own : prepared.kinds) {
    const auto [known, is_new] = by_pools.try_emplace(own.kind.pools);
    if (is_new) {
      known->second = memory_of_kind(job, own.kind, prepared);
      keep_tightest(job, known->second, prepared.memory);
    }
    own.memory = known->second;
  }
}

SharedPacks packs_of(const Job& job, const std::vector<int>& lengths, Assignment assignment) {
  return std::make_shared<const BalancedBatch>(
      BalancedBatch{pool_gpus(job), std::move(assignment.plan), std::move(assignment.costs),
                    lengths, job.layout});
}

PreparedIteration prepared_as(const Job& job, const SharedPacks& packs) {
  std::map<int, PackCosts> costs;
  for (const auto& [pool, of_pool] : *packs->costs) {
    costs.emplace(pool, PackCosts(job, of_pool, packs->plan, packs->lengths));
  }
  const std::vector<PackPasses> passes = passes_of(job, packs->plan);
  PreparedIteration prepared;
  prepared.balanced = packs;
  prepared.chunks = prepared.units = costs.at(slowest_pool(job)).mean();
  std::map<GpuClass, std::vector<int>> gpus_of;
  std::vector<const GpuClass*> order;
  for (int gpu = 0; gpu < std::ssize(passes); ++gpu) {
    const auto [known, is_new] = gpus_of.try_emplace(GpuClass{passes[gpu], pools_of(job, gpu, 1)});
    if (is_new) order.push_back(&known->first);
    known->second.push_back(gpu);
  }
  std::size_t most = 1;
  for (const GpuClass* own : order) {
    prepared.kinds.push_back(replica_costs(job, costs, packs->plan, *own, gpus_of.at(*own)));
    most = std::max(most, own->passes.size());
  }
  prepared.schedule = schedule_of(job, job.layout.pp == 1 ? 1 : static_cast<int>(most), 1);
  prepared.peak_activation_bytes.assign(job.layout.pp, 0);
  for (const ReplicaCosts& own : prepared.kinds) {
    const auto peak = evaluate_schedule(own.schedule, stage_costs(own.units), 0).peak_activation;
    for (std::size_t rank = 0; rank < peak.size(); ++rank) {
      double& bytes = prepared.peak_activation_bytes[rank];
      bytes = std::max(bytes, peak[rank]);
    }
  }
  add_memory_of_kinds(job, prepared);
  return prepared;
}

// Returns the training state of a stage, without tokens.
ChunkCost state_of(const ChunkCost& chunk) {
  ChunkCost state;
  state.parameters = chunk.parameters;
  state.expert_parameters = chunk.expert_parameters;
  return state;
}

// Plans with `prepared`, or prepares the job anew if `prepared` is for another pool.
Plan plan_closed(const Job& job, const PreparedIteration& prepared) {
  Job closed = job;
  closed.communication.fidelity = Fidelity::closed;
  const IterationPlanOptions options{.input_alone = true};
  return is_of_pool(job, prepared) ? plan_iteration(closed, prepared, options)
                                   : plan_iteration(closed, prepare_lengths(job), options);
}

double step_s_of(const Job& job, const PreparedIteration& prepared, Plan& plan) {
  const int draws = job.cluster.jitter.active() ? job.cluster.jitter.draws : 1;
  double step_s = 0;
  for (plan.draw = 0; plan.draw < draws; ++plan.draw) {
    Plan own = plan;
    const Timeline timeline = evaluate_filled(job, prepared.memory, own);
    step_s += iteration_s(job, own, timeline) / draws;
  }
  return step_s;
}

// Estimates from the class that computes longest; the rest is bubble and data parallelism.
IterationEstimate undisturbed(const Job& job, const PreparedIteration& prepared) {
  Plan plan = plan_closed(job, prepared);
  IterationEstimate estimate;
  estimate.step_s = step_s_of(job, prepared, plan);
  std::vector<CostPart> parts;
  std::size_t longest = 0;
  for (std::size_t c = 0; c < plan.classes.size(); ++c) {
    std::vector<CostPart> own;
    for (const Task& task : plan.classes[c].tasks) {
      if (task.kind == TaskKind::compute) add_costs(own, task.cost, 1);
    }
    if (total_seconds(own) <= total_seconds(parts)) continue;
    parts = std::move(own);
    longest = c;
  }
  const LinkTable links = LinkTable::keeping_reference(job.cluster);
  const Origin waits = ReplicaNetwork(job, links).origin(job, 0, world_shape(job.layout, links));
  double waited_s = estimate.step_s - total_seconds(parts);
  if (job.layout.pp > 1) {
    const ReplicaCosts& own = prepared.kinds[longest % prepared.kinds.size()];
    const ScheduleEvaluation alone = evaluate_schedule(own.schedule, stage_costs(own.units), 0);
    const double busy_s = alone.busy_s[longest / prepared.kinds.size()];
    const double bubble_s = std::clamp(alone.makespan_s - busy_s, 0.0, std::max(0.0, waited_s));
    parts.push_back({Category::pp, waits, bubble_s});
    waited_s -= bubble_s;
  }
  parts.push_back({Category::dp, waits, waited_s});
  for (const CostPart& part : parts) {
    estimate.seconds[static_cast<int>(part.category)] += part.seconds;
    estimate.origin_s[static_cast<int>(part.origin)] += part.seconds;
  }
  return estimate;
}

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
    fail("batch.lengths",
         fmt::format(
             ": sequences have up to {:.0f} tokens, but batch.sequence, the maximum length, is {}",
             longest, job.batch.sequence));
  }
}

// Returns the memory of the training state on each rank, without tokens.
std::vector<GpuMemory> state_memory(const Job& job) {
  std::vector<ChunkCost> state;
  for (const ChunkCost& chunk : chunk_costs(job)) state.push_back(state_of(chunk));
  return prepared_of(job, std::move(state)).memory;
}

// Returns a lower bound on the tokens in the fullest pack of fixed_assignment(): all tokens if one
// pack holds them. Otherwise the first pack had no room for some sequence.
double least_fullest(const std::vector<int>& lengths, double capacity) {
  if (lengths.empty()) return 0;
  const double longest = *std::ranges::max_element(lengths);
  const double all = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  return std::max(longest, std::min(all, capacity - longest));
}

// Returns the memory of each rank with the training state and the fullest pack. Until that pack's
// first backward pass a rank holds all its slices and chunks.
std::vector<GpuMemory> fixed_memory(const Job& job) {
  const Job whole = job_of_degree(job, job.layout.cp, job.layout.cp * fixed_tokens_per_gpu(job));
  const double capacity = whole.batch.sequence;
  const double share = least_fullest(step_lengths(job), capacity) / capacity;
  const bool in_slices = job.layout.pp > 1 || job.schedule.slices > 1;
  std::vector<ChunkCost> held;
  std::vector<double> activations(job.layout.pp, 0);
  for (const ChunkCost& chunk : chunk_costs(whole)) {
    const std::size_t rank = held.size() % activations.size();
    ChunkCost& own = held.emplace_back(state_of(chunk));
    own.activation_bytes = share * chunk.activation_bytes;
    if (!in_slices) own.transient_bytes = share * chunk.transient_bytes;
    activations[rank] += own.activation_bytes;
  }
  PreparedIteration prepared = prepared_of(job, std::move(held));
  prepared.peak_activation_bytes = std::move(activations);
  return iteration_memory(job, prepared);
}

double tokens_on_pool(const Job& job) {
  const double usable = usable_bytes(job.cluster.node.gpu);
  const int widest = degrees_of(job).back();
  const auto free_bytes = [&](double tokens) {
    double least = usable;
    for (const GpuMemory& rank :
         prepared_of(job, chunk_costs(job_of_degree(job, widest, widest * tokens))).memory) {
      least = std::min(least, usable - rank.total());
    }
    return least;
  };
  if (free_bytes(1) < 0) return 0;
  // Memory grows linearly with tokens. Only buffers that live at the end of a step do not, because
  // they may fit where activations were.
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

// Throws Error if the training state leaves a GPU no memory for tokens, or if the longest sequence
// does not fit in the widest group of ranks.
void check_groups(const Job& job) {
  const double room = tokens_per_gpu(job);
  if (room < 1) {
    double state = 0;
    for (const int pool : pools_in_use(job)) {
      for (const GpuMemory& rank : state_memory(seen_from(job, pool))) {
        state = std::max(state, rank.total());
      }
    }
    fail("layout.sharding",
         fmt::format(": training state, buffers and framework alone take {} of the {} of a GPU, "
                     "which leaves no memory for tokens",
                     format_memory(state), format_memory(usable_bytes(job.cluster.node.gpu))));
  }
  const int widest = degrees_of(job).back();
  if (job.batch.sequence > room * widest) {
    fail("batch.sequence",
         fmt::format(": a sequence of {} tokens needs {:.0f} GPUs, which have memory for {:.0f} "
                     "tokens each; a group has at most {} here (a power of two of the cp x dp "
                     "ranks that divides the heads)",
                     job.batch.sequence, std::ceil(job.batch.sequence / room), room, widest));
  }
}

}  // namespace

void check_lengths(const Job& job) {
  check_conflicts(length_conflicts(), job);
  check_distribution(job);
  // A search over recomputation checks its candidates individually.
  if (job.lengths->policy != LengthPolicy::fixed && !job.recompute.searched) check_groups(job);
}

double tokens_per_gpu(const Job& job) {
  double least = kInfinity;
  for (const int pool : pools_in_use(job)) {
    least = std::min(least, tokens_on_pool(seen_from(job, pool)));
  }
  return least;
}

bool is_of_pool(const Job& job, const PreparedIteration& prepared) {
  return prepared.balanced->gpus == pool_gpus(job);
}

PreparedIteration prepare_lengths(const Job& job, const SharedPacks& packs) {
  const bool fixed = job.lengths->policy == LengthPolicy::fixed;
  if (fixed && packs != nullptr && packs->layout == job.layout) return prepared_as(job, packs);
  const std::vector<int> lengths = step_lengths(job);
  if (fixed) return prepared_as(job, packs_of(job, lengths, fixed_assignment(job, lengths)));
  PreparedIteration best;
  double least_s = kInfinity;
  for (Assignment& assignment : assignments(job, lengths)) {
    // No GPU ends before its own packs do, so an assignment with longer packs is skipped. This does
    // not hold on faster nodes, nor if work of experts can move to other GPUs.
    const bool is_least = expert_gpus(job) == 1 && job.cluster.pools.empty();
    if (is_least && assignment.plan.seconds >= least_s) continue;
    PreparedIteration prepared = prepared_as(job, packs_of(job, lengths, std::move(assignment)));
    const double step_s = lengths_step_s(job, prepared);
    if (step_s >= least_s) continue;
    least_s = step_s;
    best = std::move(prepared);
  }
  return best;
}

LeastIteration least_lengths(const Job& job) {
  if (!job.cluster.pools.empty()) return {};  // how nodes share the work is not known yet
  const bool fixed = job.lengths->policy == LengthPolicy::fixed;
  return {0, fixed ? fixed_memory(job) : state_memory(job)};
}

double lengths_step_s(const Job& job, const PreparedIteration& prepared) {
  Plan plan = plan_closed(job, prepared);
  return step_s_of(job, prepared, plan);
}

IterationEstimate estimate_lengths(const Job& job, const PreparedIteration& prepared) {
  return estimate_with_rest(
      job, [&](const Job& own) { return undisturbed(own, prepared); },
      [&](const Job& own) { return lengths_step_s(own, prepared); });
}

}  // namespace windtunnel
