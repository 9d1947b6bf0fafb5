#include "sim/study/configurations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "models/base/error.hpp"
#include "models/cost/chunk/layer_table_cost.hpp"
#include "models/plan/state_shares.hpp"
#include "models/workload/recompute_parts.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/search/memory_search.hpp"
#include "policies/search/state_balance.hpp"
#include "scenarios/language/text/choices.hpp"

namespace windtunnel {
namespace {

// Context parallelism is not tried for shorter sequences, which any GPU can hold whole.
constexpr int kLeastCpSequence = 16384;
constexpr int kMostCp = 16;
constexpr int kMostMicro = 64;
constexpr int kMostChunks = 12;

std::vector<int> divisors_of(int number, int most) {
  std::vector<int> divisors;
  for (int i = 1; i <= std::min(number, most); ++i) {
    if (number % i == 0) divisors.push_back(i);
  }
  return divisors;
}

void put(Overrides& set, const std::string& key, const std::string& value) {
  std::erase_if(set, [&](const auto& at) { return at.first == key; });
  set.emplace_back(key, value);
}

// Names all axes, because another layout may have ranks along axes that the scenario leaves out.
std::string order_text(const Layout& layout) {
  std::vector<std::string_view> names;
  for (const RankAxis axis : all_axes(layout)) names.push_back(name_of(axis));
  return fmt::format("[{}]", fmt::join(names, ", "));
}

Configuration with_layout(const Configuration& base, const Layout& layout) {
  Configuration next = base;
  next.job.layout = layout;
  next.job.cluster.ranks = rank_map(layout);
  const auto put_number = [&](const char* key, int value) {
    put(next.set, key, std::to_string(value));
  };
  put_number("layout.tp", layout.tp);
  put_number("layout.pp", layout.pp);
  put_number("layout.dp", layout.dp);
  if (layout.cp != base.job.layout.cp) put_number("layout.cp", layout.cp);
  if (layout.shard_ranks != base.job.layout.shard_ranks) {
    put_number("layout.shard_ranks", layout.shard_ranks);
  }
  if (layout.ep != base.job.layout.ep) put_number("layout.ep", layout.ep);
  if (!layout.order.empty()) put(next.set, "layout.order", order_text(next.job.layout));
  put(next.set, "layout.sharding", std::string(name_of(layout.sharding)));
  put(next.set, "layout.sequence_parallel", layout.sequence_parallel ? "true" : "false");
  return next;
}

// Returns what may be sharded over replicas: what the scenario says; the optimizer state; and
// without a pipeline everything (with one, weights would be gathered for every micro-batch).
std::vector<Sharding> shardings_of(const Layout& layout, Sharding own, const Allowed& allowed) {
  // If the scenario has keys about shards, the sharding remains even if one rank holds a whole
  // copy, because without it these keys would be refused.
  const bool has_keys = layout.shard_ranks > 0 || has_shard_keys(layout);
  if (layout.dp * layout.cp == 1) return {has_keys ? own : Sharding::none};
  if (has_shard_keys(layout)) return {own};
  const auto& named = layout.pp > 1 ? allowed.sharding_in_pipelines : allowed.sharding;
  if (!named.empty()) return named;
  std::vector<Sharding> shardings = {Sharding::zero1};
  if (layout.pp == 1) shardings.push_back(Sharding::zero3);
  if (std::ranges::find(shardings, own) == shardings.end()) shardings.push_back(own);
  return shardings;
}

bool allows(const Allowed& allowed, std::string_view schedule) {
  return allowed.schedules.empty() ||
         std::ranges::find(allowed.schedules, schedule) != allowed.schedules.end();
}

ChosenSchedule with_schedule(const Configuration& base, std::string_view name, int chunks,
                             int slices) {
  ChosenSchedule next{base.job.schedule, chunks, base.set};
  put(next.set, "layout.vpp", std::to_string(chunks));
  if (next.schedule.name != name || !next.schedule.file.empty()) {
    next.schedule = {};
    next.schedule.name = name;
    put(next.set, "schedule", std::string(name));
  }
  if (slices != next.schedule.slices) {
    next.schedule.slices = slices;
    put(next.set, "schedule.slices", std::to_string(slices));
  }
  return next;
}

// Returns the numbers of model chunks per rank that are tried.
std::vector<int> chunks_of(const Job& job, const ScheduleKind& kind, bool own, bool others) {
  if (own && !others) return {job.layout.vpp};
  if (!others || (kind.knobs & kChunks) == 0) return {kind.usual_chunks};
  const int layers =
      most_stages(job) - job.layout.first_stage_layers - job.layout.last_stage_layers;
  std::vector<int> chunks;
  for (int v = 2; v <= kMostChunks; ++v) {
    if (layers % (job.layout.pp * v) == 0) chunks.push_back(v);
  }
  return chunks;
}

std::vector<int> slices_of(const ScheduleKind& kind) {
  if ((kind.knobs & kSlices) != 0) return {2, 4};
  return {1};
}

// Finds automatic shares of the training state again, for this micro-batch or recomputation.
void find_shares_again(Job& job) {
  if (job.layout.state != StateShares::automatic) return;
  job.layout.state_of_pool.clear();
  job.layout.state_of_pool = balanced_state(job);
}

}  // namespace

void take_schedule(const ChosenSchedule& from, Job& to) {
  to.schedule = from.schedule;
  to.layout.vpp = from.chunks;
}

void leave_chunks_open(Job& job) {
  job.layout.vpp = 1;
}

std::vector<Configuration> layouts_of(const Configuration& base, const Allowed& allowed) {
  const Job& job = base.job;
  if (!job.layout.stage_layers.empty()) {
    throw Error::of_key("layout.stages",
                        "lists the layers for one layout; --over layout needs an even split");
  }
  if (!job.cluster.pools.empty() && !job.cluster.places.empty()) {
    throw Error::about({"layout.place", "layout.placement", "cluster.pools"},
                       "cluster.pools: layout.place and placement say where the ranks of one "
                       "layout are, but --over layout uses ranks in their own order; leave them "
                       "out, or compare your layouts with compare --vary");
  }
  if (uneven_state(job) || job.layout.state == StateShares::automatic) {
    throw Error::of_key("layout.shard_shares",
                        "are shares for one layout; --over layout needs even shares");
  }
  if (job.redundancy) {
    throw Error::of_key(
        "redundancy",
        "lists the replicas of one layout, but other layouts have other numbers of replicas; leave "
        "it out with --over layout, or compare your layouts with compare --vary");
  }
  if (!job.sync.empty()) {
    throw Error::of_key("sync",
                        "says which replicas of one layout form an island; leave it out with "
                        "--over layout, or compare your layouts with compare --vary");
  }
  const int gpus = job.cluster.gpus();
  std::vector<Configuration> configurations;
  const int most_tp = job.network ? 1 : job.cluster.node.gpus;
  for (const int tp : divisors_of(gpus, most_tp)) {
    for (const int cp : divisors_of(gpus / tp, kMostCp)) {
      if (cp > 1 && job.batch.sequence < kLeastCpSequence && cp != job.layout.cp) continue;
      for (const int pp : divisors_of(gpus / tp / cp, most_stages(job))) {
        Layout layout = job.layout;
        layout.tp = tp;
        layout.cp = cp;
        layout.pp = pp;
        layout.vpp = 1;
        layout.dp = gpus / tp / cp / pp;
        // State is sharded over as many ranks as in the scenario if this number divides the
        // replicas, otherwise over all replicas.
        const int replicas = layout.dp * layout.cp;
        if (layout.shard_ranks > 0 && replicas % layout.shard_ranks != 0) {
          layout.shard_ranks = replicas;
        }
        layout.sequence_parallel = tp > 1 && layout.mesh_side() == 1;
        const int experts = std::max(1, job.model.moe.experts);
        for (const int ep : divisors_of(tp * cp * layout.dp, experts)) {
          if (experts % ep != 0) continue;
          if (allowed.experts_a_rank > 0 && experts / ep > allowed.experts_a_rank) continue;
          layout.ep = ep;
          for (const Sharding sharding : shardings_of(layout, job.layout.sharding, allowed)) {
            layout.sharding = sharding;
            configurations.push_back(with_layout(base, layout));
          }
        }
      }
    }
  }
  return configurations;
}

std::vector<Configuration> micro_batches_of(const Configuration& base, const Allowed& allowed) {
  std::vector<Configuration> configurations;
  const int share = base.job.batch.global / base.job.layout.dp;
  for (int micro = 1; micro <= std::min(share, kMostMicro); micro *= 2) {
    if (share % micro != 0) break;
    const int tokens = micro * (base.job.batch.sequence / base.job.layout.cp);
    if (micro > 1 && allowed.micro_tokens > 0 && tokens > allowed.micro_tokens) break;
    Configuration next = base;
    next.job.batch.micro = micro;
    put(next.set, "batch.micro", std::to_string(micro));
    find_shares_again(next.job);
    configurations.push_back(std::move(next));
  }
  // There are more replicas than sequences. The caller reports this.
  if (configurations.empty()) configurations.push_back(base);
  return configurations;
}

namespace {

// Returns the sets that have a name. `modules`: also each module of the model alone, and those
// together that are cheapest to compute again.
std::vector<Recompute> recompute_sets(const Job& job, bool modules) {
  using enum RecomputeModule;
  if (job.network) return {Recompute::none};
  std::vector<Recompute> sets = {Recompute::none, Recompute::selective, Recompute::full};
  if (!modules) return sets;
  struct Row {
    RecomputeModule module;
    bool cheap;
  };
  Recompute together;
  for (const auto& [module, cheap] :
       {Row{layernorm, true}, Row{moe_act, true}, Row{mlp_act, true}, Row{mla_up_proj, true},
        Row{core_attn, false}, Row{shared_experts, false}, Row{mlp, false}, Row{moe, false}}) {
    if (!has_module(job.model, module)) continue;
    sets.push_back(Recompute::of(module));
    if (cheap) together = together.with(module);
    if (std::ranges::find(sets, together) == sets.end()) sets.push_back(together);
  }
  return sets;
}

}  // namespace

std::vector<Configuration> recomputes_of(const Configuration& base, bool modules) {
  const std::vector<Recompute> sets = recompute_sets(base.job, modules);
  std::vector<Configuration> configurations;
  configurations.reserve(sets.size());  // it takes long to move a Job
  for (const Recompute& recompute : sets) {
    Configuration next = base;
    next.job.recompute = recompute;
    if (base.job.offload) {
      Offload offload = *base.job.offload;
      offload.searched.recompute = false;
      next.job.offload = std::make_shared<const Offload>(std::move(offload));
    }
    put(next.set, "recompute", to_string(recompute));
    find_shares_again(next.job);
    configurations.push_back(std::move(next));
  }
  return configurations;
}

std::vector<Configuration> offloads_of(const Configuration& base) {
  constexpr int kQuarters = 4;
  if (offload_of(base.job).in_chunks()) {
    throw Error::of_key(
        "offload.placement",
        "is chunks, for which the free memory decides what moves; take shares to compare places");
  }
  std::vector<Configuration> configurations;
  for (Offload offload : state_offloads(base.job)) {
    offload.searched.state = offload.searched.activations = offload.searched.hidden = false;
    if (std::exchange(offload.hidden, false)) offload.activation_share = 1;
    for (int quarters = 0; quarters <= (base.job.network ? 0 : kQuarters); ++quarters) {
      offload.activations = quarters == 0 ? MemoryTier::gpu : MemoryTier::host;
      offload.activation_share = quarters == 0 ? 1 : double(quarters) / kQuarters;
      if (!why_not(offload, base.job).empty()) continue;
      Configuration next = base;
      next.job.offload = std::make_shared<const Offload>(offload);
      if (offload_of(base.job).hidden) put(next.set, "offload.hidden", "false");
      put(next.set, "offload.optimizer", std::string(name_of(offload.optimizer)));
      put(next.set, "offload.optimizer_share", fmt::format("{:g}", offload.optimizer_share));
      put(next.set, "offload.gradients", std::string(name_of(offload.gradients)));
      put(next.set, "offload.weights", std::string(name_of(offload.weights)));
      put(next.set, "offload.activations", std::string(name_of(offload.activations)));
      put(next.set, "offload.activation_share", fmt::format("{:g}", offload.activation_share));
      configurations.push_back(std::move(next));
    }
  }
  return configurations;
}

std::vector<ChosenSchedule> schedules_of(const Configuration& base, bool all, bool chunks,
                                         const Allowed& allowed) {
  const Job& job = base.job;
  // With one rank there is no order to choose.
  if (job.layout.pp == 1) return {with_schedule(base, "1f1b", 1, 1)};
  std::vector<ChosenSchedule> schedules;
  for (const ScheduleKind& kind : schedule_kinds()) {
    const bool own = job.schedule.file.empty() && kind.name == job.schedule.name;
    // If no other schedule is requested, only the job's own remains.
    if (all ? kind.asynchronous || !allows(allowed, kind.name) : !own) continue;
    for (const int v : chunks_of(job, kind, own, all || chunks)) {
      for (const int k : own ? std::vector{job.schedule.slices} : slices_of(kind)) {
        schedules.push_back(with_schedule(base, kind.name, v, k));
      }
    }
  }
  if (!job.schedule.file.empty() && !all) {
    schedules.push_back({job.schedule, job.layout.vpp, base.set});
  }
  return schedules;
}

}  // namespace windtunnel
