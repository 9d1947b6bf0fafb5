#include "sim/study/iterations/straggler_step.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "models/plan/step_workers.hpp"
#include "models/plan/sync_graph.hpp"
#include "models/reliability/stragglers/island_drift.hpp"

namespace windtunnel {
namespace {

constexpr double kMostNumbers = 1 << 21;  // limit of drawn numbers
constexpr double kMostRounds = 16384;
constexpr double kLeastRounds = 128;

// Returns the GPUs or nodes of some replicas, each once, with the compute of its pipeline rank
// relative to the busiest rank: a slow unit with less to compute causes less delay.
std::vector<WorkerUnit> units_of(const Job& job, const WorkShares& shares, int first_replica,
                                 int replicas) {
  const Cluster& cluster = job.cluster;
  std::map<int, std::size_t> seen;
  std::vector<WorkerUnit> units;
  for (int rank = 0; rank < job.layout.ranks(); ++rank) {
    const RankCoordinates at = coordinates_of(job.layout, rank);
    if (at.dp < first_replica || at.dp >= first_replica + replicas) continue;
    const int unit = cluster.jitter.of == JitterOf::node ? cluster.node_of(rank) : rank;
    // Workers on unlike nodes compute for unlike times.
    const double share = shares.of({.dp = job.redundancy ? at.dp : 0, .pp = at.pp});
    const double slow = share * (job.redundancy ? cluster.slowdown_of(rank) : 1);
    const auto [place, fresh] = seen.try_emplace(unit, units.size());
    if (fresh) units.push_back({unit, slow});
    units[place->second].slowdown = std::max(units[place->second].slowdown, slow);
  }
  return units;
}

int rounds_for(double units) {
  return static_cast<int>(std::clamp(kMostNumbers / units, kLeastRounds, kMostRounds));
}

// Returns the exposed time of the gradient exchange: that of the rank that waits least for others.
double exchange_s(const Plan& plan, const Timeline& timeline) {
  double least_s = std::numeric_limits<double>::infinity();
  for (const RankTimeline& rank : timeline.ranks) {
    const std::vector<Task>& tasks = plan.classes[rank.rank_class].tasks;
    double own_s = 0;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (tasks[t].kind != TaskKind::collective || tasks[t].category != Category::dp) continue;
      own_s += rank.spans[t].end_s - rank.spans[t].start_s;
    }
    least_s = std::min(least_s, own_s / plan.iterations);
  }
  return least_s;
}

double work_of(const Task& task) {
  double seconds = 0;
  for (const CostPart& part : task.cost) {
    if (slowed_by_node(part.category)) seconds += part.seconds;
  }
  return seconds;
}

// Returns the compute of a class of ranks in an iteration that stragglers lengthen.
BusySeconds work_of(const Plan& plan, const RankClass& own) {
  BusySeconds work;
  for (const Task& task : own.tasks) {
    if (task.kind != TaskKind::compute) continue;
    const double seconds = work_of(task) / plan.iterations;
    work.all += seconds;
    if (task.category != Category::optimizer) work.passes += seconds;
  }
  return work;
}
BusySeconds busiest_work(const Plan& plan) {
  BusySeconds most;
  for (const RankClass& own : plan.classes) {
    const BusySeconds work = work_of(plan, own);
    if (work.passes > most.passes) most = work;
  }
  return most;
}

// Returns the workers of one island.
std::vector<std::vector<WorkerUnit>> workers_of(const Job& job, const WorkShares& shares,
                                                int island = 0) {
  const int replicas = job.layout.island_dp();
  const int first = island * replicas;
  if (!job.redundancy) return {units_of(job, shares, first, replicas)};
  const int each = replicas / step_workers(job.layout);
  std::vector<std::vector<WorkerUnit>> workers;
  for (int replica = 0; replica < replicas; replica += each) {
    workers.push_back(units_of(job, shares, first + replica, each));
  }
  return workers;
}

// Returns the rounds of each island. If all nodes are alike, one island represents all.
std::vector<StragglerRounds> island_rounds(const Job& job, const WorkShares& shares,
                                           const Redundancy& redundancy) {
  const bool alike = job.cluster.pools.empty() && job.cluster.slow_nodes.empty();
  const int islands = alike || !job.redundancy ? 1 : job.layout.islands();
  std::vector<StragglerRounds> rounds;
  for (int island = 0; island < islands; ++island) {
    const std::vector<std::vector<WorkerUnit>> workers = workers_of(job, shares, island);
    double units = 0;
    for (const std::vector<WorkerUnit>& own : workers) units += double(own.size());
    rounds.push_back(sample_rounds(redundancy, job.cluster.jitter, workers, rounds_for(units)));
  }
  return rounds;
}

// Returns numbers of islands to leave out, as candidates: small ones, then growing by half.
std::vector<int> numbers_to_leave_out(int groups) {
  constexpr int kFew = 8;
  std::vector<int> numbers;
  for (int number = 0; number < groups; number += number < kFew ? 1 : number / 2) {
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

BusySeconds busy_seconds(const Plan& plan, const RankTimeline& rank) {
  BusySeconds busy;
  const RankClass& owner = plan.classes[rank.rank_class];
  for (TaskIndex t = 0; t < std::ssize(owner.tasks); ++t) {
    const Task& task = owner.tasks[t];
    if (task.kind != TaskKind::compute || task.category == Category::filling) continue;
    const double span_s = (rank.spans[t].end_s - rank.spans[t].start_s) / plan.iterations;
    busy.all += span_s;
    if (task.category != Category::optimizer) busy.passes += span_s;
  }
  return busy;
}

bool by_straggler_rule(const Job& job) {
  return job.redundancy != nullptr || (!job.sync.empty() && job.cluster.jitter.active());
}

bool has_load(const Job& job) {
  return job.redundancy && load_of(*job.redundancy, step_workers(job.layout)) != 1;
}

Job with_twice_the_passes(const Job& job) {
  Job twice = job;
  twice.batch.global *= 2;
  return twice;
}

Job without_stragglers(const Job& job) {
  Job calm = job;
  const Jitter& own = job.cluster.jitter;
  calm.cluster.jitter = {.per = own.per, .of = own.of, .draws = own.draws, .seed = own.seed};
  if (job.redundancy) calm.cluster.slow_nodes.clear();
  return calm;
}

WorkShares work_shares(const Job& job, const Plan& plan) {
  const std::vector<ClassMember> classes = class_of_rank(plan);
  const double most = busiest_work(plan).passes;
  std::vector<double> of_class;
  for (const RankClass& own : plan.classes) {
    of_class.push_back(most > 0 ? work_of(plan, own).passes / most : 1);
  }
  WorkShares shares{job.layout.pp, {}};
  for (int dp = 0; dp < job.layout.dp; ++dp) {
    for (int pp = 0; pp < job.layout.pp; ++pp) {
      shares.shares.push_back(
          of_class[classes[rank_of(job.layout, {.dp = dp, .pp = pp})].rank_class]);
    }
  }
  return shares;
}

StragglerRule::StragglerRule(const Job& job, const WorkShares& shares, double passes_s)
    : passes_s_(passes_s) {
  const Jitter& jitter = job.cluster.jitter;
  const Redundancy redundancy = job.redundancy ? *job.redundancy : Redundancy{};
  load_ = load_of(redundancy, step_workers(job.layout));
  results_ = results_of(redundancy);
  delay_ = delay_of(redundancy);
  rounds_ = std::ranges::max(island_rounds(job, shares, redundancy), {}, &StragglerRounds::length);
  slowest_ = rounds_.slowest;
  if (!job.redundancy) {
    const double units = double(workers_of(job, shares).front().size());
    slowest_ = slowest_moments(jitter, units * job.layout.islands()).mean;
  }
}

StragglerReport StragglerRule::report(const Plan& plan, const Timeline& timeline,
                                      double step_s) const {
  const BusySeconds work = busiest_work(plan);
  StragglerReport report;
  report.load = load_;
  report.passes_s = (load_ - 1) * passes_s_;
  report.work_s = work.all + (load_ - 1) * work.passes;
  report.exchange_s = results_ > 1 ? (results_ - 1) * exchange_s(plan, timeline) : 0;
  report.waiting_s = step_s + work.all * (slowest_ - 1);
  const double calm_s = step_s + report.passes_s + report.exchange_s;
  std::vector<double> steps_s;
  for (const double length : rounds_.lengths) {
    steps_s.push_back(calm_s + report.work_s * (length - 1));
  }
  report.step_s = estimate(std::move(steps_s));
  report.waited_share = rounds_.waited_share;
  report.missing = rounds_.missing;
  report.gradient_share = rounds_.gradient_share;
  report.delay_steps = delay_;
  return report;
}

namespace {

// Returns the steps of each island in seconds, scaled so that the last island to end takes
// `step_s`. Empty: all take `step_s`.
std::vector<IslandStep> unlike_steps(const Job& job, const Plan& plan, const Timeline& timeline,
                                     double step_s) {
  const bool lengths = job.lengths.has_value();
  if (!lengths && (job.cluster.slow_nodes.empty() || waits_for_all(job.sync.front()))) return {};
  const std::vector<double> ends_s = foreground_ends_s(plan, timeline, plan.iterations - 1);
  const double last_s = *std::ranges::max_element(ends_s);
  std::vector<IslandStep> steps;
  for (const std::vector<int>& ranks : island_ranks(job.layout)) {
    double end_s = 0;
    for (const int rank : ranks) end_s = std::max(end_s, ends_s[timeline.recorded_as[rank]]);
    steps.push_back({.mean = end_s / last_s * step_s});
  }
  if (!lengths) return steps;
  const auto count = static_cast<double>(steps.size());
  IslandStep any{.mean = 0};
  for (const IslandStep& own : steps) any.mean += own.mean / count;
  for (const IslandStep& own : steps) {
    any.variance += (own.mean - any.mean) * (own.mean - any.mean) / (count - 1);
  }
  any.long_variance = any.variance;  // batches do not depend on each other
  return std::vector(steps.size(), any);
}

// Returns the same as unlike_steps() for replicas that code their gradients, without random draws.
// The slowest island takes `step_s`.
std::vector<IslandStep> coded_steps(const Job& job, const Plan& plan, double work_s,
                                    double step_s) {
  if (job.cluster.slow_nodes.empty() || waits_for_all(job.sync.front())) return {};
  std::vector<IslandStep> steps;
  double longest = 0;
  for (const StragglerRounds& own : island_rounds(job, work_shares(job, plan), *job.redundancy)) {
    steps.push_back({.mean = own.length});
    longest = std::max(longest, own.length);
  }
  for (IslandStep& own : steps) own.mean = step_s - work_s * (longest - own.mean);
  return steps;
}

// Returns the levels at which islands wait for each other, up to the first without waiting.
std::vector<DriftLevel> drift_levels(const Job& job) {
  std::vector<DriftLevel> drifts;
  for (int level = 0; level < std::ssize(job.sync); ++level) {
    const SyncLevel& own = job.sync[level];
    if (own.pattern == SyncPattern::none || own.events == SyncEvents::poisson) break;
    const int groups = job.layout.sync_groups[level];
    drifts.push_back({.steps = own.cycle_steps(),
                      .groups = groups,
                      .missing = own.missing_islands,
                      .slack = double(own.hiding_steps())});
    if (own.pattern != SyncPattern::gossip) continue;
    drifts.back().gossip = {graph_distances(own.graph, groups), gossip_peers(own, groups),
                            own.graph == SyncGraph::random};
  }
  return drifts;
}

// Returns the mean of islands that never wait: it averages their numbers of steps per second.
double mean_apart_s(const std::vector<IslandStep>& steps) {
  double per_s = 0;
  for (const IslandStep& own : steps) per_s += 1 / own.mean;
  return static_cast<double>(steps.size()) / per_s;
}

// Returns the levels with the shortest time per step that counts, over numbers left out.
template <class With>
std::vector<SyncSeconds> least_step(const Job& job, int groups, double step_s, const With& with) {
  std::vector<SyncSeconds> best;
  double best_s = std::numeric_limits<double>::infinity();
  for (const int left_out : numbers_to_leave_out(groups)) {
    std::vector<SyncSeconds> own = with(left_out);
    const double own_s = mean_step(job.sync, own, step_s).all_s;
    if (own_s >= best_s) continue;
    best_s = own_s;
    best = std::move(own);
  }
  return best;
}

}  // namespace

void add_drift(const Job& job, const Plan& plan, const Timeline& timeline, double step_s,
               const std::optional<StragglerReport>& stragglers, std::vector<SyncSeconds>& levels) {
  if (levels.empty()) return;
  const bool drawn = stragglers && job.cluster.jitter.active();
  std::vector<IslandStep> steps;
  if (!drawn) {
    steps = job.redundancy ? coded_steps(job, plan, stragglers->work_s, step_s)
                           : unlike_steps(job, plan, timeline, step_s);
    if (steps.empty()) return;
  }
  std::vector<DriftLevel> drifts = drift_levels(job);
  if (drifts.empty()) {
    if (drawn) return;
    levels.front().saved_s = (step_s - mean_apart_s(steps)) * job.sync.front().cycle_steps();
    return;
  }
  const WorkShares alike{.shares = {1}};
  const std::vector<std::vector<WorkerUnit>> workers = workers_of(job, alike);
  const IslandWorkers island{.units = static_cast<int>(workers.front().size()),
                             .workers = static_cast<int>(workers.size()),
                             .within = job.redundancy ? *job.redundancy : Redundancy{}};
  const double unit_s = drawn ? stragglers->work_s : 1;
  const auto with = [&](int left_out) {
    drifts.front().missing = left_out;
    const IslandDrift drift =
        drawn ? sample_drift(job.cluster.jitter, island, drifts)
              : sample_drift(steps, job.lengths ? job.lengths->seed : job.cluster.jitter.seed,
                             drifts);
    std::vector<SyncSeconds> own = levels;
    own.front().left_out = left_out;
    for (std::size_t level = 0; level < drifts.size(); ++level) {
      own[level].wait_s = unit_s * drift.wait[level];
      own[level].saved_s = unit_s * drift.saved[level];
      own[level].late = drift.late[level];
    }
    // An island that ends before the last one has a shorter step.
    if (!drawn) own.front().saved_s += (step_s - drift.step) * job.sync.front().cycle_steps();
    return own;
  };
  levels = job.sync.front().chooses_missing ? least_step(job, drifts.front().groups, step_s, with)
                                            : with(drifts.front().missing);
}

}  // namespace windtunnel
