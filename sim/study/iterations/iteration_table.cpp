#include "sim/study/iterations/iteration_table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/compression/compressors.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/snapshot/snapshot_cost.hpp"
#include "models/plan/state_shares.hpp"
#include "models/reliability/snapshot_place.hpp"
#include "models/reliability/waiting_theory.hpp"
#include "models/results/iteration_report.hpp"
#include "policies/iteration.hpp"
#include "policies/lowering/for_each_index.hpp"
#include "policies/protection/snapshot_tiers.hpp"
#include "sim/study/iterations/island_times.hpp"
#include "sim/study/iterations/pool_state.hpp"
#include "sim/study/iterations/relaid_jobs.hpp"
#include "sim/study/iterations/smaller_choice.hpp"
#include "sim/study/iterations/smaller_jobs.hpp"
#include "sim/study/iterations/straggler_step.hpp"
#include "sim/study/iterations/sync_window.hpp"

namespace windtunnel {
namespace {

// Iterations with one node out, two, and so on. A replica that has lost a node lends others to
// replicas that lose one later, so as many train as there are complete sets of nodes.
class ShrunkIterations {
 public:
  // Requests no simulation if the job does not shrink.
  ShrunkIterations(const Job& job, const PreparedIteration& prepared, OtherIterations others,
                   Simulations& simulations)
      : job_(job), prepared_(prepared) {
    const RecoveryPolicy& recovery = job.recovery;
    // "Any layout" includes the job's own layout with fewer replicas, so this is also simulated.
    const bool any = recovery.when_no_spare == WhenNoSpare::relayout && recovery.relayouts.empty();
    if (recovery.when_no_spare != WhenNoSpare::shrink && !any) return;
    if (recovery.elastic.groups > 0) return;
    if (!job.sync.empty()) return;  // whole islands drop out
    sizes_ = smaller_sizes(job, prepared);
    if (others == OtherIterations::closed) return;
    for (const int missing : sizes_to_simulate(job, sizes_)) {
      Job smaller = shrunk(job, missing);
      // With fewer replicas, groups of experts may be placed differently on nodes, and take longer.
      // Unlike replicas divide the batch anew.
      const bool own = smaller.layout.ep > 1 || !prepared.kinds.empty();
      const auto prepared_own =
          own ? std::make_shared<const PreparedIteration>(prepare_checked(smaller)) : nullptr;
      place_[missing] = simulations.add(std::move(smaller), {}, prepared_own);
    }
  }

  std::vector<SmallerStep> steps(const Simulations& simulations, int threads,
                                 IterationTable& table) const {
    std::vector<SmallerStep> steps;
    if (sizes_.empty()) return steps;
    std::map<int, double> simulated_s = {{0, table.iteration_s.front()}};
    for (const auto& [missing, place] : place_) {
      simulated_s[missing] = simulations.ends(place).iteration_s;
    }
    const auto [seconds, gap] = smaller_iterations(job_, prepared_, sizes_, simulated_s, threads);
    table.shrunk_gap = gap;
    const Layout& layout = job_.layout;
    const double replicas_per_node = double(job_.cluster.node.gpus) * layout.dp / layout.ranks();
    for (int out = 1; out < job_.cluster.nodes; ++out) {
      const int missing = static_cast<int>(std::ceil(out * replicas_per_node - 1e-9));
      const auto size = std::ranges::lower_bound(sizes_, missing);
      if (size == sizes_.end()) break;
      const int left = layout.dp - *size;
      const double step_s = seconds[size - sizes_.begin()];
      steps.push_back({step_s,
                       {.nodes = job_.cluster.nodes - out,
                        .tp = layout.tp,
                        .pp = layout.pp,
                        .dp = left,
                        .step_s = step_s,
                        .progress = double(left) / layout.dp}});
    }
    return steps;
  }

 private:
  const Job& job_;
  const PreparedIteration& prepared_;
  std::vector<int> sizes_;  // numbers of missing replicas
  // [number of missing replicas] index of its simulation, if it is simulated
  std::map<int, std::size_t> place_;
};

// Simulates the layouts to which a job can change when nodes are lost, to find the fastest that
// fits.
class RelaidIterations {
 public:
  // Requests no simulation if the job keeps its layout.
  RelaidIterations(const Job& job, Simulations& simulations) : nodes_(job.cluster.nodes) {
    const RecoveryPolicy& recovery = job.recovery;
    if (recovery.when_no_spare != WhenNoSpare::relayout || recovery.elastic.groups > 0) return;
    for (RelaidJob& each : relaid_jobs(job)) {
      if (each.nodes < nodes_) {
        const Layout& layout = each.job.layout;
        const RelaidLayout own{each.nodes, layout.tp, layout.pp, layout.dp};
        sizes_.push_back({own, simulations.add(std::move(each.job), {}, each.prepared)});
      }
    }
  }

  // Returns each layout once, with the number of nodes that it needs.
  std::vector<SmallerStep> sizes(const Simulations& simulations) const {
    std::vector<SmallerStep> sizes;
    for (const Size& size : sizes_) {
      SmallerStep& step = sizes.emplace_back();
      step = {simulations.ends(size.place).iteration_s, size.layout};
      step.layout.step_s = step.iteration_s;
    }
    return sizes;
  }

  // Returns the fastest layout with one node out, two, and so on.
  std::vector<SmallerStep> steps(const Simulations& simulations) const {
    std::vector<SmallerStep> steps;
    for (int left = nodes_ - 1; left > 0; --left) {
      SmallerStep best{.iteration_s = kInfinity};
      for (const SmallerStep& size : sizes(simulations)) {
        if (size.layout.nodes <= left && size.iteration_s < best.iteration_s) best = size;
      }
      if (best.iteration_s == kInfinity) break;
      steps.push_back(best);
    }
    return steps;
  }

 private:
  struct Size {
    RelaidLayout layout;
    std::size_t place;
  };
  int nodes_;
  std::vector<Size> sizes_;
};

SmallerSetting smaller_setting(const Job& job, const IterationTable& table) {
  SmallerSetting setting{.nodes = job.cluster.nodes, .iteration_s = table.iteration_s.front()};
  for (const TierTiming& timing : table.tiers) {
    setting.convert_s = std::max(setting.convert_s, timing.convert_s);
    setting.reshape_s = std::max(setting.reshape_s, timing.reshape_s);
  }
  for (const FailureClass& one : job.failures) {
    if (one.kind != FailureKind::node) continue;
    const double rate = mean_rate_per_s(one, job.cluster.nodes, job.campaign.length_s);
    setting.failures_per_s += rate;
    setting.mean_out += rate * mean_repair_s(one.repair, job.campaign.length_s);
  }
  return setting;
}

// Stores a choice in the table: it says how the job goes on without a spare.
void take(const std::vector<SmallerChoice>& choice, const Job& job, IterationTable& table) {
  table.shrunk_iteration_s.clear();
  table.shrunk_progress.clear();
  table.relaid.clear();
  table.shrunk_layout.clear();
  for (const auto& [step, relaid] : choice) {
    table.shrunk_iteration_s.push_back(step.iteration_s);
    table.shrunk_progress.push_back(step.layout.progress);
    if (job.recovery.when_no_spare != WhenNoSpare::relayout) continue;
    if (table.relaid.empty() || table.relaid.back() != step.layout) {
      table.relaid.push_back(step.layout);
    }
    table.shrunk_layout.push_back(relaid ? static_cast<int>(table.relaid.size()) : 0);
  }
}

bool asks_for_smaller(const Job& job) {
  const WhenNoSpare then = job.recovery.when_no_spare;
  const bool smaller = then == WhenNoSpare::shrink || then == WhenNoSpare::relayout;
  return smaller && job.recovery.elastic.groups == 0;
}

// If `any` layout is allowed, stores the policy whose campaign makes the most progress, because
// only campaigns know the costs of restarts. Their failures are not those of the job's own campaign
// (to_choose_by()).
void take_best(const Job& job, const std::vector<SmallerStep>& own,
               const std::vector<SmallerStep>& others, int threads, IterationTable& table) {
  const SmallerSetting setting = smaller_setting(job, table);
  const auto policies = smaller_policies(setting, own, others);
  const bool any = job.recovery.when_no_spare == WhenNoSpare::relayout &&
                   job.recovery.relayouts.empty() && job.campaign.length_s > 0;
  double most = -1;
  const std::vector<SmallerChoice>* best = &policies.front();
  for (const auto& policy : policies) {
    if (!any || policies.front().empty()) break;
    take(policy, job, table);
    const CampaignInputs inputs = to_choose_by(campaign_inputs(job, table));
    const double goodput = run_campaign(inputs, threads).goodput.mean;
    if (goodput <= most) continue;
    most = goodput;
    best = &policy;
  }
  take(*best, job, table);
}

// Adds steps with `out` nodes out, spread over the stages: the ranks of other replicas also run the
// micro-batches of the stage that lost most ranks. What fits into their idle time is free (ReCycle,
// Gandhi et al., SOSP 2024, arXiv 2405.14009, sections 4.1, 4.2). Ignores more activations.
void add_rerouted(const Job& job, const Execution& plain, IterationTable& table) {
  const Layout& layout = job.layout;
  const NodeRanks on_node = ranks_of_node(job);
  std::vector<BusySeconds> busy;
  for (const RankTimeline& rank : plain.timeline.ranks)
    busy.push_back(busy_seconds(plain.plan, rank));
  for (int out = 1; out < job.cluster.nodes; ++out) {
    const double lost = std::ceil(double(out) * on_node.stages / layout.pp) * on_node.of_stage;
    if (lost >= layout.dp) return;
    double longer_s = 0;
    for (const BusySeconds& rank : busy) {
      const double extra_s = rank.passes * lost / (layout.dp - lost);
      const double idle_s = table.iteration_s.front() - rank.all;
      longer_s = std::max(longer_s, extra_s - std::max(0.0, idle_s));
    }
    table.shrunk_iteration_s.push_back(table.iteration_s.front() + longer_s);
    table.shrunk_progress.push_back(1);
  }
}

// Adds steps with one group of replicas out, two, and so on: the other groups go on unchanged.
void add_groups_out(const Job& job, IterationTable& table) {
  const int groups = job.recovery.elastic.groups;
  for (int out = 1; out <= groups / 2; ++out) {
    table.shrunk_iteration_s.push_back(table.iteration_s.front());
    table.shrunk_progress.push_back(double(groups - out) / groups);
  }
}

// Slows a node that is not slow yet; any will do, because all others wait for it. If all are slow
// already, slows the first.
void slow_one_down(double slowdown, Cluster& cluster) {
  for (int node = 0; node < cluster.nodes; ++node) {
    const int place = cluster.place_of(node);
    if (std::ranges::find(cluster.slow_nodes, place, &SlowNode::node) == cluster.slow_nodes.end()) {
      cluster.slow_nodes.push_back({place, slowdown});
      return;
    }
  }
  double& first = cluster.slow_nodes.front().slowdown;
  first = std::max(first, slowdown);
}

class SlowIterations {
 public:
  SlowIterations(const Job& job, Simulations& simulations) {
    for (const FailureClass& failure_class : job.failures) {
      slowdowns_.push_back(failure_class.kind == FailureKind::slow_node ? failure_class.slowdown
                                                                        : 0);
      if (slowdowns_.back() == 0 || place_.contains(slowdowns_.back())) continue;
      Job slowed = job;
      slow_one_down(failure_class.slowdown, slowed.cluster);
      place_[slowdowns_.back()] = simulations.add(std::move(slowed));
    }
  }

  void fill(const Simulations& simulations, IterationTable& table) const {
    for (const double slowdown : slowdowns_) {
      double& seconds = table.slow_iteration_s.emplace_back(0);
      if (slowdown == 0) continue;
      // Exchanges between islands also lengthen a slow step.
      const double added_s = table.iteration_s.front() - simulations.ends(0).iteration_s;
      seconds = std::max(table.iteration_s.front(),
                         simulations.ends(place_.at(slowdown)).iteration_s + added_s);
    }
  }

 private:
  std::vector<double> slowdowns_;        // by failure class; 0: no class of slow nodes
  std::map<double, std::size_t> place_;  // by slowdown
};

// Returns the tiers of the set that move any bytes.
std::vector<int> moving_tiers(const Job& job, std::size_t set) {
  std::vector<int> due;
  for (std::size_t i = 0; i < job.snapshots.size(); ++i) {
    if ((set >> i & 1U) != 0 && traits_of(job.snapshots[i]).copied) {
      due.push_back(static_cast<int>(i));
    }
  }
  return due;
}

// Iterations with every set of tiers that can be due together.
class SnapshotIterations {
 public:
  SnapshotIterations(const Job& job, OtherIterations others, Simulations& simulations)
      : job_(job), place_(std::size_t{1} << job.snapshots.size(), kNone) {
    if (others == OtherIterations::closed) return;
    for (std::size_t set = 1; set < place_.size(); ++set) {
      std::vector<int> due = moving_tiers(job, set);
      if (std::ssize(due) == std::popcount(set)) place_[set] = simulations.add(job, std::move(due));
    }
  }

  // Fills in the sets that are not simulated, and TierTiming::restore_s of all tiers.
  void fill_closed(const PreparedIteration& prepared, IterationTable& table) const {
    const std::vector<PoolState> by_pool = states_by_pool(job_, prepared);
    const PoolState of_all = state_of_all(job_, prepared);
    std::vector<double> stall_s;
    for (TierTiming& timing : table.tiers) {
      SnapshotTier to_host = timing.tier;
      to_host.place = SnapshotPlace::host_memory;
      to_host.code = {};
      const double copy_s = restore_times(job_, to_host, by_pool, of_all).restore_s;
      const bool shared = traits_of(timing.tier).storage(job_.cluster) != nullptr;
      timing.complete_s = copy_s + (shared ? timing.storage_s : timing.restore_s);
      const SnapshotMode mode = timing.tier.mode;
      stall_s.push_back(mode == SnapshotMode::sync    ? timing.complete_s
                        : mode == SnapshotMode::async ? copy_s
                                                      : 0);
    }
    for (std::size_t set = 1; set < place_.size(); ++set) {
      double sum_s = 0;
      for (const int tier : moving_tiers(job_, set)) sum_s += stall_s[tier];
      table.iteration_s.push_back(table.iteration_s.front() + sum_s);
    }
  }

  void fill(const Simulations& simulations, IterationTable& table) const {
    const double end_s = simulations.ends(0).foreground_s;
    for (std::size_t set = 1; set < place_.size(); ++set) {
      std::size_t moving = 0;
      for (const int tier : moving_tiers(job_, set)) moving |= std::size_t{1} << tier;
      // Snapshots change only the last iteration, so their stall is the delay of its end.
      const double stall_s =
          moving == 0 ? 0 : simulations.ends(place_[moving]).foreground_s - end_s;
      table.iteration_s.push_back(table.iteration_s.front() + stall_s);
      if (moving != set || !std::has_single_bit(set)) continue;
      const Simulations::Ends& saved = simulations.ends(place_[set]);
      // A copy begins after its rank's optimizer, so that of the last rank begins with the
      // iteration. A negative value is an error of rounding.
      table.tiers[std::countr_zero(set)].complete_s =
          std::max(0.0, saved.snapshot_s - saved.begin_s);
    }
  }

 private:
  static constexpr std::size_t kNone = -1;

  const Job& job_;
  std::vector<std::size_t> place_;  // [set]; kNone: some tiers of the set move nothing
};

// Returns TierTiming::storage_s. `bytes`: on each GPU, by pipeline rank.
double storage_s(const Job& job, const SnapshotTier& tier, const std::vector<double>& bytes) {
  const StorageSpec* storage = traits_of(tier).storage(job.cluster);
  if (storage == nullptr) return 0;
  double written = 0;
  for (const double state : bytes) {
    written += snapshot_bytes(tier, state, weight_share(job)).written;
  }
  const double gpus_per_stage = double(job.layout.tp) * job.layout.cp * job.layout.dp;
  return written * gpus_per_stage /
         (storage->left_of(storage->write_Bps) * job.calibration.storage_efficiency.value);
}

// Sets how long each tier takes to restore `job`, the part of the job that restarts together.
void set_restores(const Job& job, const PreparedIteration& prepared, IterationTable& table) {
  const std::vector<PoolState> by_pool = states_by_pool(job, prepared);
  const PoolState of_all = state_of_all(job, prepared);
  const auto startup = [&](const SnapshotTier* tier) {
    return startup_reads(tier, of_all.state, job.layout, job.cluster, job.calibration);
  };
  for (TierTiming& timing : table.tiers) {
    const RestoreTimes times = restore_times(job, timing.tier, by_pool, of_all);
    timing.restore_s = times.restore_s;
    timing.rebuild_s = times.rebuild_s;
    timing.reshape_s = times.reshape_s;
    timing.convert_s = times.convert_s;
    timing.startup = startup(&timing.tier);
  }
  table.anew = startup(nullptr);
}

// Sets the job's intervals, because the table may have been made for a job with others.
void set_intervals(const Job& job, IterationTable& table) {
  CHECK(job.snapshots.size() == table.tiers.size(), "a table of {} tiers for {}",
        table.tiers.size(), job.snapshots.size());
  for (std::size_t i = 0; i < table.tiers.size(); ++i) table.tiers[i].tier = job.snapshots[i];
}

// A campaign counts whole iterations, so each kind of them must fit in it many times.
void check_length(const Job& job, const IterationTable& table) {
  constexpr double kLeastIterations = 10;
  const double longest_s = *std::ranges::max_element(table.iteration_s);
  if (job.campaign.length_s >= kLeastIterations * longest_s) return;
  throw Error::of_key("campaign.length",
                      "of {} is too short: an iteration takes up to {}, and the campaign should "
                      "contain at least {} of them",
                      format_seconds(job.campaign.length_s), format_seconds(longest_s),
                      kLeastIterations);
}

}  // namespace

Warmup measure_warmup(const Job& job) {
  const double share = with_usual(job.communication.compressors.dp).warmup;
  if (share == 0) return {};
  Job dense = job;
  dense.communication.compressors.dp = {};
  return {share, run_draws(dense, prepare_iteration(dense)).step_s.mean};
}

CampaignIterations campaign_iterations(const Job& job, const PreparedIteration& prepared,
                                       int threads, OtherIterations others) {
  check_snapshot_tiers(job.snapshots, job.layout, job.cluster);
  CampaignIterations iterations;
  auto& [plain, sync, table] = iterations;
  // Bytes are those of an average GPU, because storage receives the bytes of all.
  auto bytes = snapshot_bytes_per_gpu(job, prepared.chunks, held_stages(prepared.schedule));
  for (int pp = 0; pp < job.layout.pp; ++pp) bytes[pp] /= largest_state_factor(job, pp);
  for (const SnapshotTier& tier : job.snapshots) {
    table.tiers.push_back({.tier = tier, .storage_s = storage_s(job, tier, bytes)});
  }
  table.storm_chance = job.cluster.storage.storm.chance;
  Simulations simulations(job, prepared);
  const SnapshotIterations snapshots(job, others, simulations);
  const ShrunkIterations shrunk_job(job, prepared, others, simulations);
  // Only one island changes its layout; the others go on.
  const RelaidIterations relaid_job(job.sync.empty() ? job : one_island(job, job.layout.islands()),
                                    simulations);
  const SlowIterations slow(job, simulations);
  plain = simulations.run(threads);
  sync = measure_sync(job, prepared, plain);
  table.iteration_s.push_back(mean_step(job.sync, sync, plain.step_s.mean).all_s);
  table.islands = island_table(job, prepared, sync);
  set_restores(table.islands.has_islands() ? one_island(job, table.islands.count) : job, prepared,
               table);
  if (others == OtherIterations::closed) {
    snapshots.fill_closed(prepared, table);
  } else {
    snapshots.fill(simulations, table);
  }
  if (table.islands.has_islands()) {
    const double plain_s = simulations.ends(0).iteration_s;
    for (const SmallerStep& smaller : relaid_job.steps(simulations)) {
      const double longer_s = std::max(0.0, smaller.iteration_s - plain_s);
      table.islands.smaller_pace.push_back(1 + longer_s / table.iteration_s.front());
    }
  }
  if (job.recovery.elastic.groups > 0) {
    add_groups_out(job, table);
  } else if (job.recovery.when_no_spare == WhenNoSpare::reroute) {
    add_rerouted(job, plain.execution, table);
  }
  slow.fill(simulations, table);
  table.warmup = measure_warmup(job);
  if (!table.islands.has_islands() && asks_for_smaller(job)) {
    take_best(job, shrunk_job.steps(simulations, threads, table), relaid_job.sizes(simulations),
              threads, table);
  }
  return iterations;
}

CampaignInputs campaign_inputs(const Job& job, IterationTable table) {
  check_length(job, table);
  set_intervals(job, table);
  CampaignInputs inputs;
  inputs.nodes = job.cluster.nodes;
  inputs.same_shard = same_shard_nodes(job.layout, job.cluster);
  inputs.table = std::move(table);
  inputs.failures = job.failures;
  inputs.recovery = job.recovery;
  inputs.campaign = job.campaign;
  inputs.tokens_per_iteration = tokens_per_step(job);
  inputs.tokens = job.tokens;
  inputs.price_usd_per_s = price_usd_per_s(job);
  inputs.storage_share = job.cluster.storage.share;
  return inputs;
}

}  // namespace windtunnel
