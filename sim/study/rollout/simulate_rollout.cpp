#include "sim/study/rollout/simulate_rollout.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "models/cost/chunk/step_work.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/reliability/failure_traits.hpp"
#include "policies/iteration.hpp"
#include "sim/study/iterations/island_times.hpp"

namespace windtunnel {
namespace {

double longest_sequence(const RolloutSpec& spec) {
  double longest = spec.output.longest;
  for (const LengthBucket& bucket : spec.output.buckets) {
    longest = std::max(longest, bucket.longest);
  }
  return spec.prompt_length + longest;
}

// Returns the time to move the training state over PCIe, to the host and back.
double switch_s(const Job& job, const RolloutSpec& spec, const LearnerPace& pace) {
  if (!spec.colocated || !spec.offloads) return 0;
  const double rate = job.cluster.node.pcie_one_way_Bps() * job.calibration.pcie_efficiency.value;
  return 2 * pace.saved_bytes / rate;
}

double price_usd_per_s(const Job& job, const Cluster& of_both) {
  if (job.cluster.pools.empty()) {
    return windtunnel::price_usd_per_s(job) * of_both.gpus() / job.cluster.gpus();
  }
  Job both = job;
  both.cluster = of_both;
  return windtunnel::price_usd_per_s(both);
}

// Returns the job as engines on nodes of one pool see it.
Job on_pool_alone(const Job& job, int pool) {
  Job own = on_pool(job, pool);
  own.cluster.pools.clear();
  own.cluster.places.clear();
  own.cluster.ranks = {};
  return own;
}

// Returns how often per second failures stop what runs on a node.
double stops_per_node_s(const Job& job) {
  constexpr double kUsualLength_s = 30 * 86400.0;  // length of a trace, if there is no campaign
  const double length_s = job.campaign.length_s > 0 ? job.campaign.length_s : kUsualLength_s;
  double rate = 0;
  for (const FailureClass& each : job.failures) {
    const bool stops = each.kind == FailureKind::planned || traits_of(each.kind).interrupts();
    if (stops) rate += mean_rate_per_s(each, job.cluster.nodes, length_s) / job.cluster.nodes;
  }
  return rate;
}

LearnerPace pace_of(const std::vector<GpuMemory>& memory) {
  LearnerPace pace;
  for (const GpuMemory& each : memory) {
    pace.saved_bytes = std::max(pace.saved_bytes, each.weights + each.optimizer);
    pace.held_bytes = std::max(pace.held_bytes, each.weights + each.gradients + each.optimizer);
  }
  return pace;
}

double seconds_of(const std::vector<CostPart>& parts) {
  double seconds = 0;
  for (const CostPart& part : parts) seconds += part.seconds;
  return seconds;
}

// Simulates one island. Each island has its share of the engines and a separate learner, whose
// weights these engines use.
RolloutReport rollout_of_islands(const Job& job, const RolloutSpec& spec, const LearnerPace& pace,
                                 const EngineSpeeds& speeds, double availability) {
  const int islands = job.layout.islands();
  Job island = one_island(job, islands);
  RolloutSpec own = spec;
  own.prompts /= islands;
  own.nodes /= islands;
  // The island's engines are placed on the island's site.
  std::vector<SiteSpec>& sites = island.cluster.fabric.sites;
  if (!sites.empty()) sites.front().nodes += own.nodes;
  RolloutReport report = simulate_rollout(island, own, pace, speeds, availability);
  report.spec.prompts = spec.prompts;
  report.spec.nodes = spec.nodes;
  for (int* count : {&report.engines, &report.actor_gpus, &report.gpus}) *count *= islands;
  for (double* rate : {&report.returned, &report.samples_per_s, &report.tokens_per_s}) {
    *rate *= islands;
  }
  return report;
}

// Returns the pools on which engines stand; -1: all nodes are alike.
std::set<int> pools_of_engines(const Job& job, const RolloutSpec& spec) {
  const Cluster& cluster = job.cluster;
  if (cluster.pools.empty()) return {-1};
  std::set<int> pools;
  for (int node = 0; node < cluster.nodes; ++node) {
    const int pool = cluster.pool_of_place(cluster.place_of(node));
    if (spec.colocated) pools.insert(pool);
  }
  for (int pool = 0; pool < std::ssize(cluster.pools); ++pool) {
    if (!spec.colocated && cluster.pools[pool].name == spec.pool) pools.insert(pool);
  }
  return pools;
}

// Engines in one pool have the same speed, so they form a group.
std::vector<EngineGroup> groups_of(const RolloutMachine& machine, const EngineSpeeds& speeds) {
  std::map<int, int> engines;  // [pool]
  if (machine.pools.empty()) engines = {{-1, machine.engines}};
  for (const int pool : machine.pools) ++engines[pool];
  std::vector<EngineGroup> groups;
  for (const auto& [pool, count] : engines) groups.push_back({speeds.at(pool), count});
  return groups;
}

}  // namespace

LearnerPace learner_pace(const IterationReport& iteration) {
  LearnerPace pace = pace_of(iteration.memory);
  pace.step_s = iteration.time_s;
  const auto on_path = [&](Category category) {
    return iteration.critical_path_s[static_cast<std::size_t>(category)];
  };
  const double forward = on_path(Category::forward);
  const double passes = forward + on_path(Category::backward) + on_path(Category::recompute);
  if (passes > 0) pace.forward_share = forward / passes;
  return pace;
}

LearnerPace estimated_pace(const Job& job, const PreparedIteration& prepared) {
  LearnerPace pace = pace_of(prepared.memory);
  pace.step_s = iteration_step_s(job, prepared);
  double forward = 0;
  double all = 0;
  for (const ChunkCost& chunk : prepared.chunks) {
    forward += seconds_of(chunk.forward);
    all += seconds_of(chunk.forward) + seconds_of(chunk.backward_input) +
           seconds_of(chunk.backward_weight) + seconds_of(chunk.recompute);
  }
  pace.forward_share = forward / all;
  return pace;
}

EngineSpeeds engine_speeds(const Job& job, const RolloutSpec& spec, const LearnerPace& pace) {
  const double held = spec.colocated && !spec.offloads ? pace.held_bytes : 0;
  EngineSpeeds speeds;
  for (const int pool : pools_of_engines(job, spec)) {
    speeds.emplace(
        pool, engine_speed(on_pool_alone(job, pool), spec.engine, longest_sequence(spec), held));
  }
  return speeds;
}

RolloutReport simulate_rollout(const Job& job, const RolloutSpec& spec, const LearnerPace& pace,
                               const EngineSpeeds& speeds, double availability) {
  if (!job.sync.empty()) return rollout_of_islands(job, spec, pace, speeds, availability);
  const RolloutMachine machine = rollout_machine(job, spec);
  const std::vector<EngineGroup> engines = groups_of(machine, speeds);
  RolloutReport report;
  report.spec = spec;
  if (spec.update_factor == 0) report.spec.update_factor = job.calibration.rollout_update.value;
  report.engines = machine.engines;
  report.actor_gpus = machine.engines * spec.engine.tp;
  report.gpus = machine.cluster.gpus();
  report.transfer = weight_transfer(job, spec, machine);
  const LoopInputs inputs = {
      .spec = spec,
      .engines = engines,
      .token_s = report.spec.update_factor * pace.step_s / tokens_per_step(job) *
                 (spec.epochs + spec.passes * pace.forward_share),
      .transfer_s = report.transfer.seconds,
      // If engines need not drain, they go on while tensors are collected.
      .stop_s = spec.keeps_cache ? report.transfer.transfer_s : report.transfer.seconds,
      .switch_s = switch_s(job, spec, pace)};
  static_cast<LoopTimes&>(report) = run_loop(inputs);
  const double sample_tokens = spec.prompt_length + report.output_tokens;
  report.switch_s = inputs.switch_s;
  report.slots =
      std::min<double>(spec.engine.most_sequences, least_capacity(engines) / sample_tokens);

  const double nodes = std::max(1, spec.engine.tp / job.cluster.node.gpus);
  const double away_s = job.recovery.detect_s + job.recovery.restart_s + report.transfer.seconds;
  const EngineLosses losses = engine_losses(report, nodes * stops_per_node_s(job), away_s);
  report.lost_share = losses.lost_share;
  report.away_share = losses.away_share;
  report.availability = availability;
  report.period_s = period_with(report, inputs, losses);
  report.samples_per_s = spec.batch() / report.period_s * availability;
  report.tokens_per_s = report.samples_per_s * sample_tokens;
  const double usd_per_s = price_usd_per_s(job, machine.cluster);
  report.usd_per_sample = usd_per_s / report.samples_per_s;
  return report;
}

RolloutReport simulate_rollout(const Job& job, const RolloutSpec& spec,
                               const IterationReport& iteration, const CampaignReport* campaign) {
  const LearnerPace pace = learner_pace(iteration);
  return simulate_rollout(job, spec, pace, engine_speeds(job, spec, pace),
                          campaign != nullptr ? campaign->goodput.mean : 1);
}

}  // namespace windtunnel
