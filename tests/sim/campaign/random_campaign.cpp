#include "tests/sim/campaign/random_campaign.hpp"

#include <algorithm>
#include <cmath>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

constexpr int kNodes = 8;

bool one_in(RandomStream& random, int count) {
  return random.below(count) == 0;
}

void draw_cadence(RandomStream& random, SnapshotTier& tier) {
  if (one_in(random, 2)) {
    tier.every_iterations = 1 + static_cast<int>(random.below(12));
  } else {
    tier.every_s = 5 + 200 * random.uniform();
  }
}

SnapshotTier random_plain_tier(RandomStream& random) {
  SnapshotTier tier;
  tier.place = one_in(random, 2) ? SnapshotPlace::host_memory : SnapshotPlace::storage;
  tier.keeper_process = one_in(random, 2);
  draw_cadence(random, tier);
  return tier;
}

SnapshotTier random_tier(RandomStream& random) {
  SnapshotTier tier;
  tier.place = static_cast<SnapshotPlace>(random.below(5));
  if (tier.place == SnapshotPlace::replicas) return tier;
  tier.keeper_process = !one_in(random, 3);
  tier.kept = 1 + static_cast<int>(random.below(4));
  if (tier.place != SnapshotPlace::storage &&
      (tier.place == SnapshotPlace::peers || one_in(random, 2))) {
    tier.code = {.name = CodeName::reed_solomon,
                 .data = 1 + static_cast<int>(random.below(3)),
                 .parity = 1 + static_cast<int>(random.below(2)),
                 .spread = one_in(random, 2)};
  }
  if (one_in(random, 6)) {
    tier.every_overhead = 0.01 + 0.2 * random.uniform();
  } else {
    draw_cadence(random, tier);
  }
  return tier;
}

template <class Tier>
IterationTable random_table(RandomStream& random, std::uint64_t index, int most_tiers,
                            Tier draw_tier) {
  IterationTable table;
  const double plain_s = 0.5 + 5 * random.uniform();
  const int tiers = static_cast<int>(random.below(most_tiers + 1));
  for (int tier = 0; tier < tiers; ++tier) {
    TierTiming timing;
    timing.tier = draw_tier(random);
    timing.complete_s = 20 * plain_s * std::pow(random.uniform(), 3);
    timing.restore_s = 30 * random.uniform();
    timing.reshape_s = timing.tier.place == SnapshotPlace::replicas ? 0 : timing.restore_s / 2;
    if (timing.tier.code.parity > 0) timing.rebuild_s = 60 * random.uniform();
    table.tiers.push_back(timing);
  }
  for (int set = 0; set < 1 << tiers; ++set) {
    // Stalls need not add up, because copies share links.
    table.iteration_s.push_back(set == 0 ? plain_s : plain_s * (1 + 2 * random.uniform()));
  }
  for (int missing = 1; missing <= 3; ++missing) {
    table.shrunk_iteration_s.push_back(plain_s * (0.9 + 0.2 * random.uniform()));
    table.shrunk_progress.push_back(1 - missing / 8.0);
  }
  RandomStream of_writers(4, RandomPurpose::test, index);
  for (TierTiming& timing : table.tiers) {
    timing.tier.when_busy = static_cast<WhenBusy>(of_writers.below(3));
  }
  // Each of three smaller sizes may have the job's layout or another one.
  RandomStream of_layouts(5, RandomPurpose::test, index);
  table.relaid = {{}};
  for (int missing = 1; missing <= 3; ++missing) {
    table.shrunk_layout.push_back(static_cast<int>(of_layouts.below(2)));
  }
  for (TierTiming& timing : table.tiers) timing.convert_s = 40 * of_layouts.uniform();
  RandomStream of_pauses(3, RandomPurpose::test, index);
  if (one_in(of_pauses, 3)) {
    table.pauses.evaluation = {.every_iterations = 1 + static_cast<int>(of_pauses.below(40)),
                               .takes_s = 10 * plain_s * of_pauses.uniform()};
  }
  if (one_in(of_pauses, 3)) {
    table.pauses.logging = {.every_s = 100 * of_pauses.uniform(), .takes_s = of_pauses.uniform()};
  }
  return table;
}

FailureClass random_plain_class(RandomStream& random, FailureKind kind, double length_s) {
  FailureClass result;
  result.name = "class";
  result.kind = kind;
  result.rate_per_node_s = (1 + static_cast<double>(random.below(25))) / length_s / kNodes;
  switch (random.below(3)) {
    case 0:
      break;
    case 1:
      result.arrivals = Arrivals::weibull;
      result.weibull_shape = 0.5 + random.uniform();
      break;
    default:
      result.arrivals = Arrivals::trace;
      for (double at_s = 0; at_s < length_s; at_s += random.exponential(length_s / 10)) {
        result.trace_s.push_back(at_s);
      }
  }
  result.repair.fixed_s = 0.2 * length_s * random.uniform();
  if (one_in(random, 2)) {
    for (int i = 0; i < 5; ++i) {
      result.repair.empirical_s.push_back(random.exponential(0.1 * length_s));
    }
  }
  result.detect_s = one_in(random, 2) ? -1 : 30 * random.uniform();
  return result;
}

// At random times the provider gives all nodes or more, a few, or none.
void make_capacity(RandomStream& random, double length_s, FailureClass& result) {
  std::vector<double> at_s;
  std::vector<int> given;
  for (double now_s = 0; now_s < length_s; now_s += random.exponential(length_s / 20)) {
    at_s.push_back(now_s);
    given.push_back(static_cast<int>(random.below(kNodes + 4)));
  }
  result.trace_s.clear();
  result.trace_nodes.clear();
  result.frailty_variance = result.day_amplitude = 0;
  result.batch_shares.clear();
  set_capacity(at_s, given, kNodes, result);
}

// Sets the keys that belong to the kind of failure.
void set_kind(RandomStream& random, FailureKind kind, int tiers, FailureClass& result) {
  if (kind == FailureKind::node && one_in(random, 2)) {
    result.batch_shares = {0.6, 0.3, 0.1};
    result.batch_adjacent = one_in(random, 2);
  }
  if (kind == FailureKind::process) result.takes_keeper = one_in(random, 2);
  if (kind == FailureKind::network && one_in(random, 2)) result.repair = {};
  if (kind == FailureKind::slow_node) result.slowdown = 1 + 2 * random.uniform();
  if (kind == FailureKind::loss_spike) result.rollback_s = 300 * random.uniform();
  if (kind == FailureKind::corrupt_snapshot) {
    result.corrupt_tier = static_cast<int>(random.below(tiers));
  }
}

FailureClass random_class(RandomStream& random, FailureKind kind, double length_s, int tiers) {
  FailureClass result = random_plain_class(random, kind, length_s);
  if (result.arrivals == Arrivals::trace && one_in(random, 2)) {
    for (std::size_t i = 0; i < result.trace_s.size(); ++i) {
      result.trace_nodes.push_back(static_cast<std::int32_t>(random.below(3 * kNodes)));
    }
  } else if (result.arrivals != Arrivals::trace) {
    if (one_in(random, 3)) result.frailty_variance = 3 * random.uniform();
    if (one_in(random, 3)) result.day_amplitude = random.uniform();
    if (one_in(random, 3)) result.rate_per_job_s = random.uniform() / length_s;
  }
  set_kind(random, kind, tiers, result);
  if (kind == FailureKind::node && one_in(random, 3)) result.notice_s = 60 * random.uniform();
  if (kind == FailureKind::node && one_in(random, 4)) make_capacity(random, length_s, result);
  if (one_in(random, 3)) result.manual_share = random.uniform();
  return result;
}

RecoveryPolicy random_recovery(RandomStream& random) {
  RecoveryPolicy recovery;
  recovery.spares = static_cast<int>(random.below(4));
  recovery.detect_s = 20 * random.uniform();
  recovery.restart_s = 60 * random.uniform();
  recovery.when_no_spare = static_cast<WhenNoSpare>(random.below(3));
  recovery.hot_spares = static_cast<int>(random.below(recovery.spares + 1));
  recovery.provision_s = one_in(random, 2) ? 0 : 100 * random.uniform();
  recovery.success = one_in(random, 2) ? 1 : 0.5 + 0.5 * random.uniform();
  recovery.repair_slots = static_cast<int>(random.below(3));
  recovery.evict_after = one_in(random, 3) ? 1 + static_cast<int>(random.below(3)) : 0;
  recovery.evict_within_s = one_in(random, 2) ? 0 : 3000 * random.uniform();
  if (one_in(random, 3)) {
    recovery.attended = {24 * random.uniform(), 24 * random.uniform()};
    recovery.manual_s = 100 * random.uniform();
  }
  recovery.steady_overhead = one_in(random, 3) ? 0.2 * random.uniform() : 0;
  if (one_in(random, 3)) {
    recovery.elastic = {2 + static_cast<int>(random.below(kNodes - 1)), 20 * random.uniform(),
                        60 * random.uniform(), 10 * random.uniform()};
  }
  return recovery;
}

bool stops_have_a_tier(const IterationTable& table) {
  std::vector<SnapshotTier> tiers;
  for (const TierTiming& timing : table.tiers) tiers.push_back(timing.tier);
  return tier_for_planned_stop(tiers) != kNoTier;
}

}  // namespace

CampaignInputs random_plain_campaign(std::uint64_t index) {
  RandomStream random(1, RandomPurpose::test, index);
  CampaignInputs inputs;
  inputs.table = random_table(random, index, 3, random_plain_tier);
  inputs.nodes = kNodes;
  inputs.campaign = {500 + 20000 * random.uniform(), 1, index};
  // Every mix of the three kinds occurs, sometimes with two classes of a kind. Planned stops occur
  // only with a tier that survives them.
  const int kinds = stops_have_a_tier(inputs.table) ? 3 : 2;
  for (int kind = 0; kind < kinds; ++kind) {
    const std::uint64_t copies = (index >> kind & 1) * (1 + random.below(2));
    for (std::uint64_t i = 0; i < copies; ++i) {
      inputs.failures.push_back(
          random_plain_class(random, static_cast<FailureKind>(kind), inputs.campaign.length_s));
    }
  }
  inputs.recovery = {static_cast<int>(random.below(3)), 20 * random.uniform(),
                     60 * random.uniform(),
                     index % 16 < 8 ? WhenNoSpare::wait : WhenNoSpare::shrink};
  return inputs;
}

CampaignInputs random_campaign(std::uint64_t index) {
  RandomStream random(2, RandomPurpose::test, index);
  CampaignInputs inputs;
  inputs.table = random_table(random, index, kMaxSnapshotTiers, random_tier);
  inputs.nodes = kNodes;
  inputs.same_shard = {kNodes, 2 + 2 * static_cast<int>(random.below(2)), 2};
  inputs.campaign = {500 + 20000 * random.uniform(), 1, index};
  const int tiers = static_cast<int>(inputs.table.tiers.size());
  for (int kind = 0; kind < 8; ++kind) {
    const auto failure = static_cast<FailureKind>(kind);
    if (failure == FailureKind::planned && !stops_have_a_tier(inputs.table)) continue;
    if (failure == FailureKind::corrupt_snapshot && tiers == 0) continue;
    // Each campaign has few kinds of failure, so that some events are not disturbed by others.
    if (!one_in(random, index % 2 == 0 ? 2 : 5)) continue;
    inputs.failures.push_back(random_class(random, failure, inputs.campaign.length_s, tiers));
  }
  for (const FailureClass& failure_class : inputs.failures) {
    inputs.table.slow_iteration_s.push_back(failure_class.kind == FailureKind::slow_node
                                                ? inputs.table.iteration_s[0] *
                                                      failure_class.slowdown
                                                : 0);
  }
  inputs.recovery = random_recovery(random);
  return inputs;
}

}  // namespace windtunnel
