#include "policies/lengths/length_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <map>
#include <memory>
#include <set>
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
#include "policies/lowering/iteration_plan.hpp"
#include "policies/lowering/kind_cost.hpp"
#include "policies/schedules/schedules.hpp"

namespace windtunnel {
namespace {

constexpr double kMostTokens = 5e8;  // of a pack, so that ints hold them

int pool_of(const Job& job) {
  return job.layout.cp * job.layout.dp;
}

double fixed_tokens_per_gpu(const Job& job) {
  return double(job.batch.micro) * job.batch.sequence / job.layout.cp;
}

// Interleaved chunks take packs in groups.
int whole_groups(const Job& job, int packs) {
  const int group = job.layout.vpp > 1 ? job.layout.pp : 1;
  return (packs + group - 1) / group * group;
}

// Packs stand in it as micro-batches, each in so many slices.
Schedule schedule_of(const Job& job, int packs, int slices) {
  ScheduleRequest request;
  request.ranks = job.layout.pp;
  request.chunks = job.layout.vpp;
  request.microbatches = packs;
  request.group = job.schedule.group;
  request.slices = slices;
  Schedule schedule = generate_schedule(schedule_kind(job.schedule), request);
  schedule.slice_shares.clear();  // equal ones
  return schedule;
}

void add_memory(const Job& job, PreparedIteration& prepared) {
  const std::vector<StageCost> costs = stage_costs(prepared.units);
  prepared.peak_activation_bytes = evaluate_schedule(prepared.schedule, costs, 0).peak_activation;
  prepared.memory = iteration_memory(job, prepared);
}

// It has as many equal packs as are under way at once.
PreparedIteration prepared_of(const Job& job, std::vector<ChunkCost> chunks) {
  PreparedIteration prepared;
  const int under_way = job.layout.pp == 1 ? 1 : 2 * job.layout.stages();
  prepared.schedule = schedule_of(job, whole_groups(job, under_way), 1);
  prepared.chunks = std::move(chunks);
  prepared.units = prepared.chunks;
  add_memory(job, prepared);
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

// GPUs whose passes exchange tokens with each other's experts.
int expert_gpus(const Job& job) {
  return job.model.moe_layers() > 0 ? std::max(1, job.layout.ep / job.layout.tp) : 1;
}

// Whether all GPUs must make as many passes.
bool in_step(const Job& job) {
  return job.layout.sharding >= Sharding::zero2 || expert_gpus(job) > 1 || job.layout.vpp > 1;
}

// ---- assignments of the batch ----

// By pool of nodes; -1: all are alike.
using PoolCosts = std::map<int, LengthCosts>;

struct Assignment {
  std::shared_ptr<const PoolCosts> costs;
  LengthPlan plan;

  // About what it takes on a pipeline, which fills with its longest pack.
  double about_s(const Job& job) const {
    double longest_s = 0;
    for (const auto& round : plan.rounds) {
      for (const LengthPack& pack : round) longest_s = std::max(longest_s, pack.seconds);
    }
    return plan.seconds + (job.layout.pp - 1) * longest_s;
  }
};

std::set<int> pools_in_use(const Job& job) {
  std::set<int> pools;
  for (int gpu = 0; gpu < job.layout.ranks(); ++gpu) pools.insert(job.cluster.pool_of(gpu));
  return pools;
}

int slowest_pool(const Job& job) {
  int slowest = -1;
  for (const int pool : pools_in_use(job)) slowest = slower_pool(job, slowest, pool);
  return slowest;
}

ReplicaKind kind_on(const Job& job, std::vector<int> pools) {
  return {.first = 0,
          .replicas = job.layout.dp,
          .pools = std::move(pools),
          .microbatches = microbatches(job.layout, job.batch),
          .micro = job.batch.micro};
}

// As the GPUs of a pool see it.
Job seen_from(const Job& job, int pool) {
  if (pool < 0) return job;
  return job_of_kind(job, kind_on(job, std::vector<int>(job.layout.pp, pool)), pool);
}

// As LengthCosts takes them.
std::shared_ptr<const PoolCosts> pool_costs(const Job& job, const std::vector<int>& degrees,
                                            double tokens_per_gpu, double measured_per_gpu = 0) {
  auto costs = std::make_shared<PoolCosts>();
  for (const int pool : pools_in_use(job)) {
    costs->emplace(pool,
                   LengthCosts(seen_from(job, pool), degrees, tokens_per_gpu, measured_per_gpu));
  }
  return costs;
}

// Sequences are shared out by the costs of the slowest pool and the paces of the others.
LengthCosts shared_costs(const Job& job, const PoolCosts& all) {
  const int slowest = slowest_pool(job);
  LengthCosts costs = all.at(slowest);
  if (slowest < 0) return costs;
  const auto pack_s = [&](int pool) {
    const DegreeCost& cost = all.at(pool).degrees().front();
    return cost.pack_s(cost.capacity, all.at(pool).attention(0, {int(cost.capacity)}).front());
  };
  std::vector<double> paces(pool_of(job), 0);
  for (int gpu = 0; gpu < pool_of(job); ++gpu) {
    for (const int pool : pools_of_block(job, gpu * job.layout.tp, job.layout.tp)) {
      paces[gpu] = std::max(paces[gpu], pack_s(pool) / pack_s(slowest));
    }
  }
  costs.set_paces(std::move(paces));
  return costs;
}

Assignment fixed_assignment(const Job& job, const std::vector<int>& lengths) {
  const auto costs = pool_costs(job, {job.layout.cp}, fixed_tokens_per_gpu(job));
  return {costs, balance_lengths(LengthPolicy::fixed, lengths, job.batch.sequence,
                                 shared_costs(job, *costs))};
}

// What a policy that chooses tries, the most promising first: packs as large as memory has room
// for, and where more of them balance the GPUs or fill a pipeline, halves of that, quarters and so
// on. The last one is the fixed assignment, if there is room for it.
std::vector<Assignment> assignments(const Job& job, const std::vector<int>& lengths) {
  constexpr int kHalvings = 6;
  const LengthPolicy policy = job.lengths->policy;
  const double room = tokens_per_gpu(job);
  const double fixed_tokens = fixed_tokens_per_gpu(job);
  const std::vector<int> degrees = degrees_of(job);
  // Where both hold, a pack of the fixed assignment costs the same under either.
  const auto by_pool = pool_costs(job, degrees, room, std::min(room, fixed_tokens));
  const LengthCosts costs = shared_costs(job, *by_pool);
  const bool halves = policy == LengthPolicy::hdp || job.layout.pp > 1;
  std::vector<Assignment> all;
  double tokens = room;
  for (int i = 0; i <= (halves ? kHalvings : 0); ++i, tokens /= 2) {
    const LengthCosts own = costs.with_room(tokens);
    for (LengthPlan& plan : length_plans(policy, lengths, job.batch.sequence, own)) {
      all.push_back({by_pool, std::move(plan)});
    }
  }
  std::ranges::stable_sort(all, {}, [&](const Assignment& each) { return each.about_s(job); });
  // Seconds of packs do not say how a pipeline fills, nor what every pass gathers.
  const std::size_t tried = job.layout.pp > 1 || in_step(job) ? 3 : 1;
  if (all.size() > tried) all.erase(all.begin() + std::ptrdiff_t(tried), all.end());
  if (fixed_tokens <= room) all.push_back(fixed_assignment(job, lengths));
  return all;
}

// ---- what each GPU runs ----

// One of a GPU's passes over the pipeline.
struct PackPass {
  int round = 0;
  int pack = -1;  // of the round; -1: none
  std::vector<MeetingGpus> meets = {};
  double expert_tokens = 0;  // that the experts of a GPU get more than its own

  auto operator<=>(const PackPass&) const = default;
};
using PackPasses = std::vector<PackPass>;

// [GPU of the pool] in their order.
std::vector<PackPasses> packs_of(const LengthPlan& plan, int gpus) {
  std::vector<PackPasses> passes(gpus);
  for (int r = 0; r < std::ssize(plan.rounds); ++r) {
    for (int p = 0; p < std::ssize(plan.rounds[r]); ++p) {
      const LengthPack& pack = plan.rounds[r][p];
      for (int gpu = pack.first; gpu < pack.first + pack.ranks; ++gpu) {
        passes[gpu].push_back({r, p});
      }
    }
    for (PackPasses& own : passes) {
      const bool idle = own.empty() || own.back().round < r;
      if (idle && plan.rounds.size() > 1) own.push_back({r});
    }
  }
  return passes;
}

// All make as many passes, and the ranks of a pack theirs at once: gathers and reductions of every
// pass, or exchanges with experts, meet. Packs of one round are nested, the wide ones first: so
// they go to the end, and passes without a pack to the front, where the last reductions still run
// beside a backward pass.
void put_in_step(const Job& job, const LengthPlan& plan, std::vector<PackPasses>& passes) {
  std::size_t most = 1;
  for (const PackPasses& own : passes) most = std::max(most, own.size());
  most = whole_groups(job, static_cast<int>(most));
  for (PackPasses& own : passes) {
    if (plan.rounds.size() == 1) {
      std::ranges::stable_sort(own, {}, [&](const PackPass& pass) {
        return pass.pack < 0 ? 0 : plan.rounds[pass.round][pass.pack].ranks;
      });
    }
    own.insert(own.begin(), most - own.size(), PackPass{});
  }
}

double tokens_of(const LengthPlan& plan, const PackPass& pass) {
  if (pass.pack < 0) return 0;
  const LengthPack& pack = plan.rounds[pass.round][pass.pack];
  return pack.tokens / pack.ranks;
}

// What a pass waits for: all of a round for the one before, the ranks of a pack for each other, and
// those whose experts it needs, among which its tokens spread evenly.
void add_meetings(const Job& job, const LengthPlan& plan, std::vector<PackPasses>& passes) {
  const int gpus = static_cast<int>(passes.size());
  for (PackPasses& own : passes) {
    for (PackPass& pass : own) {
      if (pass.round > 0) pass.meets.push_back({0, gpus});
      if (pass.pack < 0) continue;
      const LengthPack& pack = plan.rounds[pass.round][pass.pack];
      if (pack.ranks > 1) pass.meets.push_back({pack.first, pack.ranks});
    }
  }
  const int width = expert_gpus(job);
  for (int first = 0; width > 1 && first < gpus; first += width) {
    for (std::size_t i = 0; i < passes[first].size(); ++i) {
      double mean = 0;
      for (int gpu = first; gpu < first + width; ++gpu) {
        mean += tokens_of(plan, passes[gpu][i]) / width;
      }
      for (int gpu = first; gpu < first + width; ++gpu) {
        PackPass& pass = passes[gpu][i];
        pass.expert_tokens = mean - tokens_of(plan, pass);
        pass.meets.push_back({first, width});
      }
    }
  }
}

std::vector<PackPasses> passes_of(const Job& job, const LengthPlan& plan) {
  std::vector<PackPasses> passes = packs_of(plan, pool_of(job));
  if (in_step(job)) put_in_step(job, plan, passes);
  for (PackPasses& own : passes) {
    if (own.empty()) own.emplace_back();
  }
  add_meetings(job, plan, passes);
  return passes;
}

// ---- what the packs cost ----

// Part of a pack's tokens.
struct PackSlice {
  double tokens = 0;
  double squares = 0;
  AttentionSeconds attention = {};
};

// Equal ones. Under the causal mask the tokens from a to b of a sequence of n take the share
// (b^2 - a^2) / n^2 of its attention.
std::vector<PackSlice> slices_of(const LengthPack& pack, const std::vector<int>& lengths,
                                 const std::vector<AttentionSeconds>& attention, int slices) {
  std::vector<PackSlice> all(slices);
  double begin = 0;
  for (const int sequence : pack.sequences) {
    const double length = lengths[sequence];
    for (int s = 0; s < slices; ++s) {
      const double from = std::clamp(s * pack.tokens / slices - begin, 0.0, length);
      const double to = std::clamp((s + 1) * pack.tokens / slices - begin, 0.0, length);
      const double squares = to * to - from * from;
      all[s].tokens += to - from;
      all[s].squares += squares;
      all[s].attention += attention[sequence].of_share(squares / (length * length));
    }
    begin += length;
  }
  return all;
}

// What passes over the packs of an assignment cost, [stage of the model * slices + slice].
class PackCosts {
 public:
  PackCosts(const Job& job, const LengthCosts& costs, const LengthPlan& plan,
            const std::vector<int>& lengths)
      : costs_(costs), plan_(plan), slices_(job.schedule.slices) {
    const bool apart = slices_ > 1 || !job.cluster.pools.empty();
    std::map<std::size_t, std::vector<AttentionSeconds>> attention;  // [degree]
    for (const std::vector<LengthPack>& round : plan.rounds) {
      std::vector<std::vector<ChunkCost>>& of_round = packs_.emplace_back();
      for (const LengthPack& pack : round) {
        std::vector<AttentionSeconds>& of_degree = attention[pack.degree];
        if (apart && of_degree.empty()) of_degree = costs.attention(pack.degree, lengths);
        of_round.push_back(of_pack(pack, lengths, of_degree));
      }
    }
    idle_.resize(packs_.front().front().size());
    for (std::size_t i = 0; i < idle_.size(); ++i) {
      const ChunkCost& any = packs_.front().front()[i];
      for (double ChunkCost::*held : {&ChunkCost::parameters, &ChunkCost::expert_parameters,
                                      &ChunkCost::frozen_parameters, &ChunkCost::frozen_experts}) {
        idle_[i].*held = any.*held;
      }
      idle_[i].passes_gradient = any.passes_gradient;
    }
  }

  std::vector<ChunkCost> of(const PackPass& pass) const {
    std::vector<ChunkCost> units = pass.pack < 0 ? idle_ : packs_[pass.round][pass.pack];
    if (pass.expert_tokens == 0) return units;
    const std::size_t degree = pass.pack < 0 ? 0 : plan_.rounds[pass.round][pass.pack].degree;
    for (std::size_t i = 0; i < units.size(); ++i) {
      costs_.add_expert_tokens(degree, i / slices_, pass.expert_tokens / slices_, units[i]);
    }
    return units;
  }

  // [stage] What stands for all packs: their mean time, the memory of the fullest.
  std::vector<ChunkCost> mean() const {
    std::vector<ChunkCost> means;
    for (std::size_t stage = 0; stage * slices_ < idle_.size(); ++stage) {
      means.push_back(mean_of_stage(stage));
    }
    return means;
  }

 private:
  std::vector<ChunkCost> of_pack(const LengthPack& pack, const std::vector<int>& lengths,
                                 const std::vector<AttentionSeconds>& attention) const {
    if (attention.empty()) {
      double squares = 0;
      for (const int sequence : pack.sequences)
        squares += double(lengths[sequence]) * lengths[sequence];
      return costs_.pack(pack.degree, pack.tokens, squares, pack.attention);
    }
    std::vector<ChunkCost> units;
    const std::vector<PackSlice> slices = slices_of(pack, lengths, attention, slices_);
    for (int s = 0; s < slices_; ++s) {
      const PackSlice& slice = slices[s];
      const std::vector<ChunkCost> stages =
          costs_.pack(pack.degree, slice.tokens, slice.squares, slice.attention);
      units.resize(stages.size() * slices_);
      for (std::size_t stage = 0; stage < stages.size(); ++stage) {
        units[stage * slices_ + s] = stages[stage];
      }
    }
    return units;
  }

  ChunkCost mean_of_stage(std::size_t stage) const {
    ChunkCost mean = idle_[stage * slices_];
    double packs = 0;
    for (const auto& round : packs_) packs += static_cast<double>(round.size());
    for (const auto& round : packs_) {
      for (const std::vector<ChunkCost>& pack : round) {
        ChunkCost whole;
        for (int s = 0; s < slices_; ++s) add_slice(pack[stage * slices_ + s], packs, whole, mean);
        mean.activation_bytes = std::max(mean.activation_bytes, whole.activation_bytes);
        if (whole.offloaded_bytes <= mean.offloaded_bytes) continue;
        mean.offloaded_bytes = whole.offloaded_bytes;
        mean.offloaded_of_layers = whole.offloaded_of_layers;
      }
    }
    return mean;
  }

  static void add_slice(const ChunkCost& slice, double packs, ChunkCost& whole, ChunkCost& mean) {
    add_costs(mean.forward, slice.forward, 1 / packs);
    add_costs(mean.backward_input, slice.backward_input, 1 / packs);
    add_costs(mean.backward_weight, slice.backward_weight, 1 / packs);
    add_costs(mean.recompute, slice.recompute, 1 / packs);
    mean.transient_bytes = std::max(mean.transient_bytes, slice.transient_bytes);
    whole.activation_bytes += slice.activation_bytes;
    whole.offloaded_bytes += slice.offloaded_bytes;
    whole.offloaded_of_layers.resize(slice.offloaded_of_layers.size(), 0);
    for (std::size_t i = 0; i < slice.offloaded_of_layers.size(); ++i) {
      whole.offloaded_of_layers[i] += slice.offloaded_of_layers[i];
    }
  }

  const LengthCosts& costs_;
  const LengthPlan& plan_;
  const int slices_;
  std::vector<std::vector<std::vector<ChunkCost>>> packs_;  // [round][pack]
  std::vector<ChunkCost> idle_;                             // a pass without sequences
};

// ---- the iteration ----

// GPUs run the same that have the same passes on nodes of the same pools.
struct GpuClass {
  PackPasses passes;
  std::vector<int> pools;  // [pipeline rank]; empty: all nodes are alike

  auto operator<=>(const GpuClass&) const = default;
};

std::vector<int> pools_of(const Job& job, int gpu, int gpus) {
  if (job.cluster.pools.empty()) return {};
  return pools_of_block(job, gpu * job.layout.tp, gpus * job.layout.tp);
}

// [stage * slices + slice] A pass on the slowest of its GPUs, which the others wait for in every
// layer.
std::vector<ChunkCost> pass_units(const Job& job, const std::map<int, PackCosts>& costs,
                                  const LengthPlan& plan, const PackPass& pass,
                                  const GpuClass& own) {
  std::vector<int> pools = own.pools;
  if (pass.pack >= 0) {
    const LengthPack& pack = plan.rounds[pass.round][pass.pack];
    pools = pools_of(job, pack.first, pack.ranks);
  }
  if (pools.empty()) return costs.begin()->second.of(pass);
  const std::vector<int> ranks = looped_ranks(job.layout);
  std::vector<int> of_stages;
  for (const int rank : ranks) of_stages.push_back(pools[rank]);
  return costs_by_stage(of_stages, [&](int pool) { return costs.at(pool).of(pass); });
}

// What GPUs of a class run. Every slice of every pack is a unit with costs of its own.
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

PreparedIteration prepared_as(const Job& job, const std::vector<int>& lengths,
                              const Assignment& assignment) {
  std::map<int, PackCosts> costs;
  for (const auto& [pool, of_pool] : *assignment.costs) {
    costs.emplace(pool, PackCosts(job, of_pool, assignment.plan, lengths));
  }
  const std::vector<PackPasses> passes = passes_of(job, assignment.plan);
  PreparedIteration prepared;
  prepared.balanced =
      std::make_shared<const BalancedBatch>(BalancedBatch{pool_of(job), assignment.plan});
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
    prepared.kinds.push_back(replica_costs(job, costs, assignment.plan, *own, gpus_of.at(*own)));
    prepared.kinds.back().chunks = prepared.chunks;
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
  if (job.cluster.pools.empty()) prepared.memory = iteration_memory(job, prepared);
  std::set<std::vector<int>> known;
  for (const ReplicaCosts& own : prepared.kinds) {
    if (own.kind.pools.empty() || !known.insert(own.kind.pools).second) continue;
    keep_tightest(job, memory_of_kind(job, own.kind, prepared), prepared.memory);
  }
  return prepared;
}

// `prepared`, or where it is of a job with other replicas, what this one does.
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

// The class that computes longest; what it waits for beside that is its pipeline's bubble, and data
// parallelism.
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
    fail("batch.lengths", fmt::format(": sequences of up to {:.0f} tokens, but batch.sequence, the "
                                      "longest that may come, is {}",
                                      longest, job.batch.sequence));
  }
}

// Without a token.
std::vector<GpuMemory> state_memory(const Job& job) {
  std::vector<ChunkCost> state;
  for (const ChunkCost& chunk : chunk_costs(job)) {
    ChunkCost& held = state.emplace_back();
    held.parameters = chunk.parameters;
    held.expert_parameters = chunk.expert_parameters;
  }
  return prepared_of(job, std::move(state)).memory;
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

// What groups of different degrees ask for.
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
  // What a search of recomputation leaves room for is asked about each that it tries.
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
  return prepared.balanced->gpus == pool_of(job);
}

PreparedIteration prepare_lengths(const Job& job) {
  const std::vector<int> lengths = step_lengths(job);
  if (job.lengths->policy == LengthPolicy::fixed) {
    return prepared_as(job, lengths, fixed_assignment(job, lengths));
  }
  PreparedIteration best;
  double least_s = kInfinity;
  for (const Assignment& assignment : assignments(job, lengths)) {
    // No GPU ends before its packs, but on faster nodes, and what experts do may go to others.
    const bool is_least = expert_gpus(job) == 1 && job.cluster.pools.empty();
    if (is_least && assignment.plan.seconds >= least_s) continue;
    PreparedIteration prepared = prepared_as(job, lengths, assignment);
    const double step_s = lengths_step_s(job, prepared);
    if (step_s >= least_s) continue;
    least_s = step_s;
    best = std::move(prepared);
  }
  return best;
}

LeastIteration least_lengths(const Job& job) {
  if (!job.cluster.pools.empty()) return {};  // how they share the work is not known
  return {0, state_memory(job)};
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
