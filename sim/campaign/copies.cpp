#include "sim/campaign/copies.hpp"

#include <algorithm>
#include <array>

#include "models/reliability/snapshot_place.hpp"

namespace windtunnel {
namespace {

bool on_gpus(const SnapshotTier& tier) {
  return !traits_of(tier).copied;
}

}  // namespace

Copies::Copies(const CampaignPlan& plan) : plan_(plan), tiers_(plan.tiers.size()) {}

void Copies::collect(const UndisturbedRun& run, double at_s, bool running, int out) {
  run.complete_copies(at_s, running,
                      [&](int tier, const StartedCopy& copy) { add_if_newer(tier, copy, out); });
}

void Copies::add_if_newer(int tier, const StartedCopy& copy, int out) {
  const std::vector<Copy>& copies = tiers_[tier].copies;
  if (copies.empty() || copies.back().start_s < copy.start_s) add(tier, copy, out);
}

void Copies::add(int tier, const StartedCopy& copy, int out) {
  std::vector<Copy>& copies = tiers_[tier].copies;
  if (std::ssize(copies) == plan_.kept[tier]) copies.erase(copies.begin());
  copies.push_back({copy.iteration, copy.start_s, false, out});
  forget_old_losses(tiers_[tier]);
}

void Copies::hold(const StartedCopy& live, const std::vector<int>& empty_slots, int out) {
  for (std::size_t tier = 0; tier < tiers_.size(); ++tier) {
    if (!on_gpus(plan_.tiers[tier])) continue;
    tiers_[tier].copies = {{live.iteration, live.start_s, false, out}};
    tiers_[tier].lost.clear();
    for (const int slot : empty_slots) tiers_[tier].lost.push_back({slot, live.start_s});
    drop_lost_copies(static_cast<int>(tier));
  }
}

void Copies::lose_node(int slot, double at_s) {
  for (std::size_t tier = 0; tier < tiers_.size(); ++tier) {
    if (plan_.protections[tier].node) lose_slot(static_cast<int>(tier), slot, at_s);
  }
}

void Copies::lose_gpus(int slot) {
  for (std::size_t tier = 0; tier < tiers_.size(); ++tier) {
    if (!on_gpus(plan_.tiers[tier]) || tiers_[tier].copies.empty()) continue;
    lose_slot(static_cast<int>(tier), slot, tiers_[tier].copies.front().start_s);
  }
}

void Copies::lose_keeper(int slot, double at_s) {
  for (std::size_t tier = 0; tier < tiers_.size(); ++tier) {
    if (traits_of(plan_.tiers[tier]).of_process && plan_.protections[tier].tolerated > 0) {
      lose_slot(static_cast<int>(tier), slot, at_s);
    }
  }
}

void Copies::end_trainers(const FailureClass& failure_class) {
  for (std::size_t tier = 0; tier < tiers_.size(); ++tier) {
    if (survives_end(plan_.protections[tier], failure_class)) continue;
    tiers_[tier].copies.clear();
    tiers_[tier].lost.clear();
  }
}

void Copies::spoil(double since_s) {
  for (std::size_t tier = 0; tier < tiers_.size(); ++tier) {
    std::erase_if(tiers_[tier].copies, [&](const Copy& copy) { return copy.start_s > since_s; });
    // Copies on GPUs follow the diverging state.
    if (on_gpus(plan_.tiers[tier])) tiers_[tier].copies.clear();
    forget_old_losses(tiers_[tier]);
  }
}

void Copies::forget_after(std::int64_t iteration) {
  for (Tier& tier : tiers_) {
    std::erase_if(tier.copies, [&](const Copy& copy) { return copy.iteration > iteration; });
    forget_old_losses(tier);
  }
}

void Copies::corrupt(int tier) {
  if (!on_gpus(plan_.tiers[tier]) && !tiers_[tier].copies.empty()) {
    tiers_[tier].copies.back().bad = true;
  }
}

Copies::Source Copies::newest(bool good, int out) const {
  std::vector<RestorableCopy>& newest = restorable_;
  newest.assign(tiers_.size(), {});
  std::array<bool, kMaxSnapshotTiers> bad{};
  for (std::size_t i = 0; i < tiers_.size(); ++i) {
    const std::vector<Copy>& copies = tiers_[i].copies;
    auto copy = copies.rbegin();
    while (copy != copies.rend() && good && copy->bad) ++copy;
    if (copy == copies.rend()) continue;
    const TierTiming& timing = plan_.inputs.table.tiers[i];
    const bool rebuild =
        timing.rebuild_s > 0 && !lost_since(static_cast<int>(i), copy->start_s).empty();
    const double load_s = rebuild ? timing.rebuild_s : timing.restore_s;
    newest[i] = {copy->iteration, load_s + plan_.conversion_s(i, copy->out, out)};
    bad[i] = copy->bad;
  }
  const int tier = tier_to_restore_from(newest);
  if (tier == kNoTier) return {};
  return {tier, newest[tier].iteration, newest[tier].restore_s, bad[tier]};
}

void Copies::discard(int tier) {
  tiers_[tier].copies.pop_back();
  forget_old_losses(tiers_[tier]);
}

const std::vector<int>& Copies::lost_since(int tier, double start_s) const {
  slots_.clear();
  for (const Lost& lost : tiers_[tier].lost) {
    if (lost.at_s >= start_s) slots_.push_back(lost.slot);
  }
  return slots_;
}

// A slot that is lost again is lost for all copies up to then, so only the last time is kept.
void Copies::lose_slot(int tier, int slot, double at_s) {
  Tier& state = tiers_[tier];
  if (state.copies.empty()) return;
  const auto known = std::ranges::find(state.lost, slot, &Lost::slot);
  if (known != state.lost.end()) {
    known->at_s = at_s;
  } else {
    state.lost.push_back({slot, at_s});
  }
  drop_lost_copies(tier);
}

void Copies::drop_lost_copies(int tier) {
  Tier& state = tiers_[tier];
  std::erase_if(state.copies, [&](const Copy& copy) {
    return !survives_nodes(plan_.protections[tier], lost_since(tier, copy.start_s));
  });
  forget_old_losses(state);
}

void Copies::forget_old_losses(Tier& tier) {
  if (tier.copies.empty()) {
    tier.lost.clear();
    return;
  }
  const double oldest_s = tier.copies.front().start_s;
  std::erase_if(tier.lost, [&](const Lost& lost) { return lost.at_s < oldest_s; });
}

}  // namespace windtunnel
