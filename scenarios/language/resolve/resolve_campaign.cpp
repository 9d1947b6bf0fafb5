// Failures, recovery and the campaign of a job, from checked values: rates and arrivals, repair,
// detection, and the origins of lost time.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/reliability/detection.hpp"
#include "models/reliability/failure_traits.hpp"
#include "models/reliability/saving_interval.hpp"
#include "models/reliability/snapshot_place.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/exchange/replica_groups.hpp"
#include "policies/protection/snapshot_tiers.hpp"
#include "scenarios/language/library/facts/planning.hpp"
#include "scenarios/language/library/time_series.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "scenarios/language/resolve/schemes.hpp"
#include "scenarios/language/text/choices.hpp"

namespace windtunnel {
namespace {

FailureKind resolve_kind(const Values& values, const std::string& path) {
  if (values.has(path + ".kind")) return value_of<FailureKind>(values.text(path + ".kind"));
  const std::string& name = values.text(path + ".class");
  if (has_choice<FailureKind>(name)) return value_of<FailureKind>(name);
  throw Error(values.where(path + ".class"),
              fmt::format("{}: class '{}' needs a kind; add e.g. 'kind: node'; kinds: {}", path,
                          name, fmt::join(names_of<FailureKind>(), ", ")));
}

static_assert(std::ranges::is_permutation(kChoices<FailureKind>, kFailureKinds, {},
                                          &Choice<FailureKind>::value, &FailureTraits::kind),
              "a row of traits for every word");

// A key that only one kind of failure has.
struct KeyOfKind {
  std::string_view key;
  FailureKind kind;
};
constexpr KeyOfKind kKeysOfKinds[] = {{"batch", FailureKind::node},
                                      {"notice", FailureKind::node},
                                      {"arrivals.capacity", FailureKind::node},
                                      {"keeper", FailureKind::process},
                                      {"slowdown", FailureKind::slow_node},
                                      {"rollback", FailureKind::loss_spike},
                                      {"tier", FailureKind::corrupt_snapshot}};

void check_keys_of_kind(const Values& values, const std::string& path, FailureKind kind) {
  for (const KeyOfKind& row : kKeysOfKinds) {
    const std::string key = join_path(path, row.key);
    if (row.kind == kind || !values.stated(key)) continue;
    values.fail(
        key, fmt::format("applies to kind: {}, not to kind: {}", name_of(row.kind), name_of(kind)));
  }
  const auto need = [&](FailureKind of, const char* key, const char* example) {
    if (kind != of || values.has(join_path(path, key))) return;
    throw Error(values.where(path),
                fmt::format("{} has no '{}'; add e.g. '{}: {}'", path, key, key, example));
  };
  need(FailureKind::slow_node, "slowdown", "1.1");
  need(FailureKind::loss_spike, "rollback", "30 min");
  const bool capacity = values.stated(path + ".arrivals.capacity");
  refuse_unused(
      values, path,
      {{values.stated(path + ".notice"),
        {"detect", "manual"},
        "the notice already says when the node leaves; remove this key"},
       {capacity, {"repair"}, "the capacity already says when nodes are back; remove this key"},
       {capacity, {"batch"}, "the capacity already says how many nodes leave; remove this key"}});
}

// Returns how many parts of a node fail independently, each with the stated mtbf.
double parts_of_node(const Values& values, const std::string& path, const NodeSpec& node) {
  const std::string key = path + ".of";
  if (!values.has(key)) {
    throw Error(
        values.where(path + ".mtbf"),
        fmt::format(
            "{}.mtbf: does not say to what it refers; add 'of: node', 'of: gpu' or 'of: rack'",
            path));
  }
  const std::string& part = values.text(key);
  if (part == "gpu") return node.gpus;
  if (part == "rack" && !is_rack(node)) {
    values.fail(
        key, fmt::format(
                 "a node of {} GPUs is not a rack, and the number of nodes in a rack is unknown; "
                 "give the mtbf of a node (that of a rack times its nodes) with 'of: node'",
                 node.gpus));
  }
  return 1;
}

// Sets the rate from a stated mean time between failures.
void resolve_mtbf(const Values& values, const std::string& path, const NodeSpec& node,
                  FailureClass& failure) {
  const std::string key = path + ".mtbf";
  if (!values.has(key)) {
    if (values.has(path + ".of"))
      values.fail(path + ".of", "says to what an mtbf refers, but there is no mtbf; add 'mtbf'");
    return;
  }
  if (values.has(path + ".rate")) {
    const std::string_view kind = name_of(failure.kind);
    values.fail(key, fmt::format("{0} has both a rate and an mtbf; keep one of them (--set "
                                 "'{0}={{class: {1}, {2}mtbf: ..., of: ...}}' replaces both)",
                                 path, failure.name,
                                 failure.name == kind ? "" : fmt::format("kind: {}, ", kind)));
  }
  const double parts = parts_of_node(values, path, node);
  failure.rate_per_node_s = parts / values.number(key);
  const double most = find_field("failures.*.rate")->high;
  if (failure.rate_per_node_s <= most) return;
  values.fail(key, fmt::format("a node would fail {:.3g} times a day; state an mtbf of {} or more",
                               failure.rate_per_node_s * kDay_s,
                               format_quantity(parts / most, Dimension::seconds)));
}

void resolve_rates(const Values& values, const std::string& path, const NodeSpec& node,
                   FailureClass& failure) {
  const bool traced = failure.arrivals == Arrivals::trace;
  refuse_unused(values, path,
                {{traced,
                  {"rate", "mtbf", "of", "job_rate", "growth"},
                  "a trace has its own rate; remove this key"}});
  if (traced) return;
  resolve_mtbf(values, path, node, failure);
  const bool of_nodes = values.has(path + ".rate") || values.has(path + ".mtbf");
  if (!of_nodes && !values.has(path + ".job_rate")) {
    throw Error(values.where(path), fmt::format("{} has no 'rate'; add e.g. 'rate: {}'", path,
                                                example_of(Dimension::per_node_s)));
  }
  if (values.stated(path + ".growth") && !of_nodes) {
    values.fail(path + ".growth", "only a rate per node can grow with the job; add 'rate'");
  }
}

std::vector<double> gaps_of(const std::vector<double>& times) {
  std::vector<double> gaps;
  for (size_t i = 1; i < times.size(); ++i) gaps.push_back(times[i] - times[i - 1]);
  return gaps;
}

constexpr int kMostNodesGiven = 10'000'000;

void resolve_arrivals(const Values& values, const std::string& path, NamedFiles& files, int nodes,
                      FailureClass& failure) {
  const std::string arrivals = path + ".arrivals";
  const std::string weibull = arrivals + ".weibull";
  const std::string trace = arrivals + ".trace";
  const std::string empirical = arrivals + ".empirical";
  const std::string capacity = arrivals + ".capacity";
  const std::string amplitude = arrivals + ".day_amplitude";
  int laws = 0;
  for (const std::string& law : {weibull, trace, empirical, capacity}) {
    if (values.has(law) && ++laws == 2) {
      throw Error(
          values.where(law),
          fmt::format("{}: state only one of weibull, trace, empirical and capacity", arrivals));
    }
  }
  if (laws == 0 && !values.has(arrivals) && !values.has(amplitude)) {
    throw Error(values.where(arrivals),
                fmt::format("{} is empty; write exponential, {{weibull: 0.7}} or {{trace: "
                            "infinitehbd}}",
                            arrivals));
  }
  if (values.has(weibull)) {
    failure.arrivals = Arrivals::weibull;
  } else if (values.has(trace)) {
    failure.arrivals = Arrivals::trace;
    TimeSeries times = find_arrival_trace(values.text(trace), files, values.where(trace));
    failure.trace_s = std::move(times.seconds);
    failure.trace_nodes = std::move(times.nodes);
  } else if (values.has(capacity)) {
    values.about(capacity, [&] {
      const Counts given = read_counts(values.text(capacity), "nodes", kMostNodesGiven, files);
      set_capacity(given.seconds, given.counts, nodes, failure);
    });
  } else if (values.has(empirical)) {
    failure.arrivals = Arrivals::empirical;
    const TimeSeries times =
        find_arrival_trace(values.text(empirical), files, values.where(empirical));
    failure.gaps_s = gaps_of(times.seconds);
    if (failure.gaps_s.empty() || times.seconds.back() <= times.seconds.front()) {
      values.fail(
          empirical,
          fmt::format("'{}' has no gaps, because all failures have the same time", times.name));
    }
  }
  if (failure.arrivals == Arrivals::trace && values.has(amplitude)) {
    values.fail(amplitude, "a trace already contains the times of day; remove this key");
  }
}

void resolve_repair(const Values& values, const std::string& path, NamedFiles& files,
                    FailureClass& failure) {
  const std::string key = path + ".repair";
  const std::string empirical = key + ".empirical";
  const std::string median = key + ".lognormal.median";
  RepairTime& repair = failure.repair;
  if (values.has(empirical) && values.has(median)) {
    values.fail(key, "state either empirical or lognormal, not both");
  }
  if (values.has(empirical)) {
    repair.empirical_s =
        find_repairs(values.text(empirical), files, values.where(empirical)).seconds;
  } else if (values.has(key)) {
    repair.fixed_s = values.number(key);
  } else if (values.stated(key) && !values.has(median)) {
    throw Error(values.where(key),
                fmt::format("{} is empty; write a time, {{empirical: infinitehbd}} or {{lognormal: "
                            "{{median: 1.1 h, sigma: 1.2}}}}",
                            key));
  } else if (!values.has(median) && failure.kind != FailureKind::network) {
    repair.fixed_s = kUsualRepair_s;
  }
}

void resolve_batch_shares(const Values& values, const std::string& path, FailureClass& failure) {
  const std::string key = path + ".batch.shares";
  if (!values.stated(path + ".batch")) return;
  failure.batch_shares = values.numbers(key);
  const double sum = std::accumulate(failure.batch_shares.begin(), failure.batch_shares.end(), 0.0);
  if (std::abs(sum - 1) > 1e-6) {
    values.fail(key, fmt::format("the shares sum to {:.6g}, not to 1", sum));
  }
}

// Reads the means of detection in the map at `path`.
Detection resolve_detection(const Values& values, const std::string& path) {
  Detection detection;
  values.fill(path, detection);
  return detection;
}

bool has_detection(const Values& values, const std::string& path) {
  return values.has(path + ".timeout");
}

// The class's own detection time. Negative: recovery's common value applies.
double resolve_detect(const Values& values, const std::string& path, FailureKind kind) {
  const std::string own = path + ".detect";
  if (values.has(own)) return values.number(own);
  const bool particular = has_detection(values, own);
  const std::string key = particular ? own : "recovery.detect";
  if (!particular && !has_detection(values, key)) return -1;
  const double seconds = detection_s(resolve_detection(values, key), kind);
  if (std::isfinite(seconds)) return seconds;
  values.fail(particular ? own : path,
              fmt::format("nothing in {} notices failures of kind: {}; add a watchdog there, or "
                          "state a time as {}.detect",
                          key, name_of(kind), path));
}

FailureClass resolve_failure(const Values& values, const std::string& path, NamedFiles& files,
                             const Cluster& cluster) {
  FailureClass failure;
  values.fill(path, failure);
  failure.kind = resolve_kind(values, path);
  // A report counts failures by class, and uses these two names for totals.
  if (failure.name == "unexpected" ||
      (failure.name == "planned" && failure.kind != FailureKind::planned)) {
    throw Error(
        values.where(path + ".class"),
        fmt::format(
            "{}: reports count all {} failures under the name '{}'; give the class another name",
            path, failure.name, failure.name));
  }
  check_keys_of_kind(values, path, failure.kind);
  resolve_arrivals(values, path, files, cluster.nodes, failure);
  resolve_rates(values, path, cluster.node, failure);
  resolve_batch_shares(values, path, failure);
  resolve_repair(values, path, files, failure);
  failure.detect_s = resolve_detect(values, path, failure.kind);
  values.about(path, [&] { check_failure_class(failure); });
  return failure;
}

void resolve_failures(const Values& values, NamedFiles& files, Job& job) {
  for (const std::string& path : values.items("failures")) {
    const FailureClass failure = resolve_failure(values, path, files, job.cluster);
    const bool known = std::any_of(job.failures.begin(), job.failures.end(),
                                   [&](const auto& other) { return other.name == failure.name; });
    if (known) {
      throw Error(
          values.where(path + ".class"),
          fmt::format("{}: there is already a class '{}'; give this one another name and a kind",
                      path, failure.name));
    }
    job.failures.push_back(failure);
  }
  check_snapshot_tiers(job.snapshots, job.failures);
}

// Limits the expected failures of all trials together; more would take hours to draw.
void check_failures_in_all(const Values& values, const Job& job) {
  constexpr double kMost = 1e9;
  double failures = 0;  // of one trial
  for (const FailureClass& failure : job.failures) {
    failures += failure.arrivals == Arrivals::trace
                    ? static_cast<double>(failure.trace_s.size())
                    : job_rate_per_s(failure, job.cluster.nodes) * job.campaign.length_s;
  }
  if (failures * job.campaign.trials <= kMost) return;
  throw Error(values.fault_at("campaign"),
              fmt::format("campaign: {} replicas of {} failures each are more than {} failures; "
                          "lower campaign.replicas or campaign.length",
                          job.campaign.trials, format_count(failures), format_count(kMost)));
}

// Checks what the tiers need of the job: storage, cores, nodes, second copies.
void check_tiers(const Values& values, const Job& job) {
  const NodeGroups same_shard = same_shard_nodes(job.layout, job.cluster);
  for (size_t i = 0; i < job.snapshots.size(); ++i) {
    const SnapshotTier& tier = job.snapshots[i];
    const std::string path = fmt::format("snapshots.{}", i);
    if (traits_of(tier).storage(job.cluster) != nullptr && !values.stated("cluster.storage")) {
      throw Error(values.where(path),
                  fmt::format("{}: the tier needs shared storage, but the cluster has none; add "
                              "e.g. 'storage: {{write: 2 TB/s, read: 2 TB/s}}' to cluster",
                              path));
    }
    const double cores = job.cluster.node.cpu_cores.value;
    if (tier.code.name != CodeName::none && !tier.code.on_gpu && tier.code.cpu_cores > cores) {
      values.fail(path + ".code.cores",
                  fmt::format("{:g} cores cannot encode, because a node has {:g}",
                              tier.code.cpu_cores, cores));
    }
    values.about(values.stated(path + ".code") ? path + ".code" : path,
                 [&] { protection_of(tier, job.cluster.nodes, same_shard); });
  }
}

double resolve_restart(const Values& values, int gpus) {
  const std::string key = "recovery.restart";
  if (values.has(key)) return values.number(key);
  return values.number(key + ".scheduler") + values.number(key + ".process") +
         values.number(key + ".communicators_per_gpu") * gpus + values.number(key + ".warm_up");
}

// Refuses elastic groups that hold the only copy of some state: the other groups could not
// continue.
void check_copies_of_groups(const Values& values, const Layout& layout, int groups) {
  // Islands count as copies: they differ only by the steps since their last exchange.
  const int copies = state_copies(layout).count * layout.islands();
  if (copies % groups == 0) return;
  const int replicas = layout.dp * layout.cp / groups;
  const bool dense =
      replica_groups(layout, ReplicaAxis::dense_across).count * layout.islands() % groups == 0;
  const std::string advice =
      dense ? fmt::format(
                  "choose layout.ep so that it divides the {} ranks that a group has in a stage",
                  layout.tp * replicas)
            : fmt::format(
                  "write layout.sharding: none, or layout.shard_ranks: {} for a copy in "
                  "each group",
                  replicas);
  values.fail(
      "recovery.elastic.groups",
      fmt::format("the job has {} groups, but only {} of its state; a group without a whole copy "
                  "cannot go on when another group fails; {}",
                  groups, copies == 1 ? "one copy" : fmt::format("{} copies", copies), advice));
}

void check_elastic(const Values& values, const Job& job) {
  const int groups = job.recovery.elastic.groups;
  if (groups == 0) return;
  const int replicas = job.layout.dp;
  if (replicas % groups != 0) {
    int nearest = 1;
    for (int divisor = 2; divisor <= replicas; ++divisor) {
      const bool nearer = std::abs(divisor - groups) < std::abs(nearest - groups);
      if (replicas % divisor == 0 && (nearest == 1 || nearer)) nearest = divisor;
    }
    values.fail(
        "recovery.elastic.groups",
        fmt::format(
            "{} groups do not divide the {} data-parallel replicas{}", groups, replicas,
            nearest == 1 ? "" : fmt::format("; write recovery.elastic.groups: {}", nearest)));
  }
  if (job.recovery.when_no_spare != WhenNoSpare::wait) {
    values.fail("recovery.when_no_spare",
                fmt::format("elastic groups go on without the lost group, which waits for its "
                            "nodes; use wait, not {}",
                            values.text("recovery.when_no_spare")));
  }
  check_copies_of_groups(values, job.layout, groups);
}

// Layouts in which the job can continue without a spare.
void resolve_relayouts(const Values& values, Job& job) {
  const std::string key = "recovery.relayout";
  const int gpus = job.cluster.node.gpus;
  for (const std::string& path : values.items(key)) {
    RelayoutSize size{job.layout.tp, job.layout.pp, job.layout.dp};
    values.fill(path, size);
    const double ranks = double(size.tp) * size.pp * size.dp * job.layout.cp;
    if (std::ceil(ranks / gpus) >= job.cluster.nodes) {
      values.fail(path, fmt::format("needs {:g} GPUs, which are not on fewer nodes than the job's "
                                    "{}; take a smaller layout",
                                    ranks, job.cluster.nodes));
    }
    job.recovery.relayouts.push_back(size);
  }
  check_conflicts(campaign_conflicts(), job);
  if (job.recovery.when_no_spare != WhenNoSpare::relayout) return;
  for (const SnapshotTier& tier : job.snapshots) {
    if (traits_of(tier).copied) continue;
    values.fail("recovery.when_no_spare",
                "after a relayout every GPU needs another part of the state than the replicas "
                "hold; leave that tier out, or take shrink");
  }
}

// The simulation does not cover a slow node among islands that exchange from time to time.
void check_islands(const Values& values, const Job& job) {
  if (job.sync.empty() || job.recovery.elastic.groups > 0 || job.campaign.length_s == 0) return;
  for (size_t i = 0; i < job.snapshots.size(); ++i) {
    if (job.snapshots[i].own == nullptr) continue;
    values.fail(interval_key(i),
                "a saving rule of the program does not go with islands that exchange from time to "
                "time (sync), because these save after a number of steps; state an interval");
  }
  for (size_t i = 0; i < job.failures.size(); ++i) {
    if (job.failures[i].kind != FailureKind::slow_node) continue;
    values.fail(fmt::format("failures.{}", i),
                "kind: slow-node does not go with islands that exchange from time to time "
                "(sync), because each island has its own failures; leave out one of the two");
  }
}

// Finds the weakest evidence of the facts added.
class WeakestEvidence {
 public:
  WeakestEvidence(const Values& values, const EvidenceList& evidence)
      : values_(values), evidence_(evidence) {}

  // Adds the stated facts at the key and below it, without choices.
  void add(const std::string& key) {
    const auto& all = values_.all();
    for (auto at = all.lower_bound(key); at != all.end() && at->first.starts_with(key); ++at) {
      const bool below = at->first.size() == key.size() || at->first[key.size()] == '.';
      if (below && at->second.stated && at->second.field->fact) {
        add(evidence_of(at->second, evidence_).origin);
      }
    }
  }
  void add(Origin origin) {
    weakest_ = any_ ? weakest(weakest_, origin) : origin;
    any_ = true;
  }
  Origin result() const { return any_ ? weakest_ : Origin::assumed; }

 private:
  const Values& values_;
  const EvidenceList& evidence_;
  Origin weakest_ = Origin::assumed;
  bool any_ = false;
};

void resolve_origins(const Values& values, const EvidenceList& evidence, NamedFiles& files,
                     Job& job) {
  WeakestEvidence failure(values, evidence);
  WeakestEvidence recovery(values, evidence);
  const auto path_of = [](int i, const char* key) { return fmt::format("failures.{}.{}", i, key); };
  for (int i = 0; i < values.length("failures"); ++i) {
    for (const char* key : {"rate", "mtbf", "job_rate", "growth", "arrivals", "frailty", "batch"}) {
      failure.add(path_of(i, key));
    }
    for (const char* key : {"arrivals.trace", "arrivals.empirical"}) {
      if (const Value* trace = values.find(path_of(i, key))) {
        failure.add(find_arrival_trace(trace->text, files, trace->where).evidence.origin);
      }
    }
    // A file of the user counts as assumed.
    if (values.has(path_of(i, "arrivals.capacity"))) failure.add(Origin::assumed);
    for (const char* key : {"detect", "notice", "slowdown", "rollback", "manual"}) {
      recovery.add(path_of(i, key));
    }
    const FailureTraits& traits = traits_of(job.failures[i].kind);
    if (traits.repaired()) recovery.add(path_of(i, "repair"));
    if (const Value* repairs = values.find(path_of(i, "repair.empirical"))) {
      recovery.add(find_repairs(repairs->text, files, repairs->where).evidence.origin);
    }
    const bool known = !job.failures[i].taken.empty() || values.stated(path_of(i, "repair"));
    if (traits.takes_node && !known) recovery.add(Origin::assumed);
  }
  recovery.add("recovery");
  for (const char* key : {"recovery.detect", "recovery.restart"}) {
    if (!values.stated(key)) recovery.add(Origin::assumed);
  }
  job.failure_origin = failure.result();
  job.recovery_origin = recovery.result();
}

}  // namespace

bool takes_key(FailureKind kind, std::string_view key) {
  const auto* const row = std::ranges::find(kKeysOfKinds, key, &KeyOfKind::key);
  return row == std::end(kKeysOfKinds) || row->kind == kind;
}

RecoveryPolicy resolve_recovery(const Values& values, int gpus) {
  RecoveryPolicy recovery;
  values.fill("recovery", recovery);
  // A scheme's hot spares are some of its spares, but the scenario may state fewer spares.
  const Value* hot = values.find("recovery.hot_spares");
  if (hot != nullptr && !hot->scheme.empty()) {
    recovery.hot_spares = std::min(recovery.hot_spares, recovery.spares);
  }
  recovery.detect_s =
      values.has("recovery.detect")
          ? values.number("recovery.detect")
          : detection_s(resolve_detection(values, "recovery.detect"), FailureKind::process);
  recovery.restart_s = resolve_restart(values, gpus);
  return recovery;
}

void resolve_campaign(const Values& values, const EvidenceList& evidence, NamedFiles& files,
                      const OwnSavingRules& own, Job& job) {
  job.snapshots = resolve_snapshots(values, job.cluster.node.gpus, own);
  check_tiers(values, job);
  resolve_failures(values, files, job);
  job.recovery = resolve_recovery(values, job.cluster.gpus());
  resolve_relayouts(values, job);
  check_elastic(values, job);
  check_islands(values, job);
  check_recovery(job.recovery, job.cluster.nodes);
  check_failures_in_all(values, job);
  resolve_origins(values, evidence, files, job);
}

}  // namespace windtunnel
