#include "sim/campaign/failure_streams.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/base/units.hpp"
#include "models/reliability/failure_traits.hpp"
#include "sim/campaign/node_pool.hpp"

namespace windtunnel {
namespace {

std::uint64_t stream_index(int trial, std::size_t failure_class) {
  return (static_cast<std::uint64_t>(trial) << 16) | failure_class;
}

// Returns the time until a human is available.
double attended_after_s(const AttendedHours& attended, double now_s) {
  if (attended.from_h == attended.to_h) return 0;
  const double hour = std::fmod(now_s / kHour_s, 24);
  const bool through_midnight = attended.to_h < attended.from_h;
  const bool after_from = hour >= attended.from_h;
  const bool before_to = hour < attended.to_h;
  if (through_midnight ? after_from || before_to : after_from && before_to) return 0;
  return (after_from ? attended.from_h + 24 - hour : attended.from_h - hour) * kHour_s;
}

}  // namespace

FailureStreams::FailureStreams(const CampaignInputs& inputs, int trial)
    : inputs_(inputs),
      restarts_(inputs.campaign.seed, RandomPurpose::recovery,
                stream_index(trial, inputs.failures.size())) {
  const std::uint64_t seed = inputs.campaign.seed;
  for (std::size_t i = 0; i < inputs.failures.size(); ++i) {
    const FailureClass& failure_class = inputs.failures[i];
    const std::uint64_t stream = stream_index(trial, i);
    classes_.push_back({&failure_class, stream,
                        ArrivalStream(failure_class, inputs.nodes, seed, stream),
                        Victims(failure_class, inputs.nodes, seed, stream),
                        RandomStream(seed, RandomPurpose::repair, stream),
                        RandomStream(seed, RandomPurpose::recovery, stream)});
    Class& one = classes_.back();
    if (traits_of(failure_class.kind).of_nodes) one.arrivals.set_speed(0, one.victims.speed());
  }
}

FailureStreams::Next FailureStreams::next() const {
  Next next{std::numeric_limits<double>::infinity(), -1};
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    const double at_s = classes_[i].arrivals.next_s();
    if (at_s < next.at_s) next = {at_s, static_cast<int>(i)};
  }
  for (const Leaving& one : leaving_) {
    if (one.at_s <= next.at_s) next = {one.at_s, one.failure_class, true};
  }
  return next;
}

void FailureStreams::strike(const Next& next, std::vector<int>& hit) {
  Class& one = classes_[next.failure_class];
  const std::vector<std::int32_t>& traced = one.failure_class->trace_nodes;
  hit.clear();
  if (next.leaves) {
    std::erase_if(leaving_, [&](const Leaving& leaves) {
      const bool now = leaves.at_s <= next.at_s && leaves.failure_class == next.failure_class;
      if (now) hit.push_back(leaves.slot);
      return now;
    });
    return;
  }
  if (!one.failure_class->taken.empty()) {
    reclaim(one, hit);
  } else if (traits_of(one.failure_class->kind).of_nodes) {
    if (one.failure_class->arrivals == Arrivals::trace && !traced.empty()) {
      hit.push_back(traced[one.arrivals.traced()] % inputs_.nodes);
    } else {
      one.victims.draw(hit);
    }
  }
  one.arrivals.advance();
}

// Draws the nodes that a recorded shortage takes away. Nodes that leave anyway do not count.
void FailureStreams::reclaim(Class& one, std::vector<int>& hit) {
  const auto& [from_s, until_s] = one.failure_class->taken[one.arrivals.traced()];
  one.victims.draw_any(until_s.size() + leaving_.size(), hit);
  std::erase_if(hit, [&](int slot) { return is_leaving(slot); });
  if (hit.size() > until_s.size()) hit.resize(until_s.size());
  for (std::size_t i = 0; i < hit.size(); ++i) away_[hit[i]] = {from_s, until_s[i]};
}

bool FailureStreams::is_leaving(int slot) const {
  return std::ranges::find(leaving_, slot, &Leaving::slot) != leaving_.end();
}

double FailureStreams::next_leaving_s() const {
  double next_s = std::numeric_limits<double>::infinity();
  for (const Leaving& one : leaving_) next_s = std::min(next_s, one.at_s);
  return next_s;
}

void FailureStreams::announce(int failure_class, const std::vector<int>& slots, double now_s) {
  const FailureClass& one = inputs_.failures[failure_class];
  for (const int slot : slots) {
    if (is_leaving(slot)) continue;
    const double at_s = one.taken.empty() ? now_s + one.notice_s : away_.at(slot).from_s;
    leaving_.push_back({slot, failure_class, at_s});
  }
}

void FailureStreams::stands(int slot, int node, bool was_empty, double now_s) {
  const bool is_empty = node == kNobody;
  std::erase_if(leaving_, [&](const Leaving& one) { return one.slot == slot; });
  for (Class& one : classes_) {
    const FailureClass& failure_class = *one.failure_class;
    if (!traits_of(failure_class.kind).of_nodes) continue;
    if (failure_class.frailty_variance == 0 && is_empty == was_empty) continue;
    one.victims.set_hazard(
        slot, is_empty ? 0 : node_hazard(failure_class, inputs_.campaign.seed, one.stream, node));
    one.arrivals.set_speed(now_s, one.victims.speed());
  }
}

double FailureStreams::draw_repair_s(int failure_class) {
  Class& one = classes_[failure_class];
  return windtunnel::draw_repair_s(one.failure_class->repair, one.repair);
}

double FailureStreams::draw_away_s(int failure_class, int slot, double now_s) {
  if (inputs_.failures[failure_class].taken.empty()) return draw_repair_s(failure_class);
  return std::max(0.0, away_.at(slot).until_s - now_s);
}

bool FailureStreams::needs_human(int failure_class) {
  Class& one = classes_[failure_class];
  const double share = one.failure_class->manual_share;
  return share > 0 && one.human.uniform() < share;
}

double FailureStreams::noticed_after_s(int class_index, double now_s) {
  const FailureClass& failure_class = inputs_.failures[class_index];
  const RecoveryPolicy& recovery = inputs_.recovery;
  if (failure_class.notice_s > 0) return 0;
  const double detect_s = failure_class.detect_s >= 0 ? failure_class.detect_s : recovery.detect_s;
  if (!needs_human(class_index)) return detect_s;
  return detect_s + attended_after_s(recovery.attended, now_s + detect_s) + recovery.manual_s;
}

bool FailureStreams::meets_storm() {
  const double chance = inputs_.table.storm_chance;
  return chance >= 1 || restarts_.uniform() < chance;
}

bool FailureStreams::restart_works() {
  const double success = inputs_.recovery.success;
  return success >= 1 || restarts_.uniform() < success;
}

}  // namespace windtunnel
