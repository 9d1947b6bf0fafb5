#include "sim/campaign/island_trial.hpp"

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/reliability/failure_traits.hpp"
#include "models/reliability/saving_interval.hpp"

namespace windtunnel {

CampaignInputs counted_in_steps(CampaignInputs inputs) {
  const double step_s = inputs.table.iteration_s[0] * (1 + inputs.recovery.steady_overhead);
  for (TierTiming& timing : inputs.table.tiers) {
    SnapshotTier& tier = timing.tier;
    const double every = interval_s(tier) / step_s;
    if (every > 0) save_every_iterations(tier, std::max(1L, std::lround(every)));
  }
  return inputs;
}

IslandTrial::IslandTrial(const CampaignPlan& plan, int index, std::vector<CampaignEvent>* events)
    : plan_(plan),
      inputs_(plan.inputs),
      table_(inputs_.table.islands),
      pace_(plan.pace(plan.pace_index(0, kNoSlowNode))),
      events_(events),
      streams_(inputs_, index),
      pool_(inputs_.recovery, inputs_.nodes, inputs_.campaign.length_s),
      account_(plan),
      exchanges_(table_, pace_),
      islands_(table_.count, Island(plan)),
      failures_(inputs_.failures.size(), 0),
      restored_from_(plan.tiers.size() + 2, 0) {
  account_.begin(0, plan.pace_index(0, kNoSlowNode));
  told_.waited = [this](int, double wait_s) { account_.spend(Loss::sync, wait_s); };
  told_.missed = [this](int island, double at_s, std::int64_t shared, std::int64_t step) {
    miss(island, at_s, shared, step);
  };
}

TrialResult IslandTrial::run() {
  const double length_s = inputs_.campaign.length_s;
  for (;;) {
    const FailureStreams::Next failure = streams_.next();
    const double end_s = next_end_s();
    // A waiting island restarts as soon as a node comes back. Other islands look for nodes between
    // phases, as a job without islands does.
    const bool waits = std::ranges::any_of(
        down_, [&](int island) { return islands_[island].phase == Phase::waiting; });
    const bool lacks =
        !table_.smaller_pace.empty() &&
        std::ranges::any_of(islands_, [](const Island& island) { return island.layout_out > 0; });
    const double back_s = waits || lacks ? pool_.next_back_s() : kInfinity;
    const double at_s = std::min({failure.at_s, end_s, back_s, length_s});
    exchanges_.settle(at_s, told_);
    now_s_ = at_s;
    if (at_s >= length_s) break;
    if (at_s == end_s) {
      // This must be a copy, because islands that recover leave down_.
      const std::vector<int> down = down_;
      for (const int island : down) {
        if (islands_[island].until_s <= now_s_) go_on(island);
      }
    } else if (at_s == back_s) {
      finish_repairs();
    } else {
      meet_failure(failure);
    }
  }
  return result();
}

double IslandTrial::next_end_s() const {
  double next_s = kInfinity;
  for (const int island : down_) next_s = std::min(next_s, islands_[island].until_s);
  return next_s;
}

// --- failures

void IslandTrial::meet_failure(const FailureStreams::Next& failure) {
  finish_repairs();
  const FailureClass& failure_class = inputs_.failures[failure.failure_class];
  streams_.strike(failure, hit_);
  std::erase_if(hit_, [&](int slot) { return pool_.node_at(slot) == kNobody; });
  if (!failure.leaves) {
    ++failures_[failure.failure_class];
    if (CampaignEvent* event = log(CampaignEvent::Kind::failure)) {
      event->failure_class = failure.failure_class;
      event->nodes = hit_;
    }
  }
  switch (failure_class.kind) {
    case FailureKind::planned:
      stop_all_as_planned(std::max(0.0, failure_class.detect_s));
      return;
    case FailureKind::corrupt_snapshot:
      for (int island = 0; island < table_.count; ++island) {
        if (exchanges_.trains(island)) collect(island, exchanges_.position(island, now_s_));
        islands_[island].copies.corrupt(failure_class.corrupt_tier);
      }
      return;
    case FailureKind::loss_spike:
      // Islands that are down are also hit: they, too, restart from a state before the spike.
      for (int island = 0; island < table_.count; ++island) fail(island, failure.failure_class, 0);
      return;
    default:
      break;
  }
  if (hit_.empty()) return;
  const double link_s =
      traits_of(failure_class.kind).takes_link ? streams_.draw_repair_s(failure.failure_class) : 0;
  // Handles one island at a time; the slots of an island are consecutive.
  while (!hit_.empty()) {
    const int island = table_.of_node[hit_.front()];
    if (streams_.is_notice(failure)) {
      heed_notice(island, failure.failure_class);
    } else {
      fail(island, failure.failure_class, link_s);
    }
    std::erase_if(hit_, [&](int slot) { return table_.of_node[slot] == island; });
  }
}

// Applies a failure at now_s_ to one island that it hits.
void IslandTrial::fail(int index, int class_index, double link_s) {
  Island& island = islands_[index];
  const FailureClass& failure_class = inputs_.failures[class_index];
  halt(index);
  island.fails = true;
  if (!hit_.empty()) ++islands_lost_;
  island.detect_s = streams_.noticed_after_s(class_index, now_s_);
  if (failure_class.kind == FailureKind::loss_spike) {
    island.copies.spoil(now_s_ - failure_class.rollback_s);
  }
  for (const int slot : hit_) {
    if (table_.of_node[slot] != index) continue;
    if (failure_class.kind == FailureKind::node) {
      lose_node(index, slot, class_index);
    } else {
      island.copies.lose_gpus(slot);
      if (failure_class.takes_keeper) island.copies.lose_keeper(slot, now_s_);
    }
  }
  lose_leaving(index);
  island.copies.end_trainers(failure_class);
  if (link_s > 0) island.link_up_s = std::max(island.link_up_s, now_s_ + link_s);
  enter(island, Phase::detecting, island.detect_s);
}

// A training island takes a snapshot at once if this completes a copy in time, and otherwise trains
// on. An island that is down gives up the nodes in hit_ immediately.
void IslandTrial::heed_notice(int index, int class_index) {
  const Island& island = islands_[index];
  const bool trains = exchanges_.trains(index);
  if (!trains && island.phase != Phase::saving) return fail(index, class_index, 0);
  std::vector<int> slots = hit_;
  std::erase_if(slots, [&](int slot) { return table_.of_node[slot] != index; });
  streams_.announce(class_index, slots, now_s_);
  if (!trains) return;
  double at_s = kInfinity;
  slots.clear();
  for (const FailureStreams::Leaving& one : streams_.leaving()) {
    if (table_.of_node[one.slot] != index) continue;
    slots.push_back(one.slot);
    at_s = std::min(at_s, one.at_s);
  }
  const int tier = plan_.saver_within(at_s - now_s_, slots);
  if (tier != kNoTier) stop_as_planned(index, tier, 0);
}

void IslandTrial::lose_node(int index, int slot, int class_index) {
  Island& island = islands_[index];
  const double away_s = streams_.draw_away_s(class_index, slot, now_s_);
  const bool reclaimed = is_reclaimed(inputs_.failures[class_index]);
  island.copies.lose_node(slot, now_s_);
  island.provision_s = std::max(island.provision_s, pool_.replace(slot, now_s_, away_s, reclaimed));
  const int node = pool_.node_at(slot);
  if (node == kNobody) ++island.empty_slots;
  streams_.stands(slot, node, false, now_s_);
}

void IslandTrial::lose_leaving(int index) {
  const std::vector<FailureStreams::Leaving> leaving = streams_.leaving();
  for (const FailureStreams::Leaving& one : leaving) {
    if (table_.of_node[one.slot] == index) lose_node(index, one.slot, one.failure_class);
  }
}

// Ends what the island does: training, or a phase of its recovery.
void IslandTrial::halt(int index, bool at_end) {
  Island& island = islands_[index];
  if (!exchanges_.trains(index)) {
    book(island);
    return;
  }
  const Exchanges::Position position = exchanges_.position(index, now_s_);
  collect(index, position);
  const std::int64_t step = std::max(position.step, island.step);
  CHECK(exchanges_.limit(index) >= island.step, "island {} began behind its limit", index);
  Steps done;
  if (step > island.step) {
    done.total = 1;  // the first step takes no snapshot
    pace_.add_pauses(done, island.step, island.step + 1);
    pace_.add_iterations(done, island.step + 1, step);
  }
  account_.execute(0, done);
  account_.spend(Loss::degraded, (pace_of(island) - 1) * pace_.elapsed_s(done));
  const double rest_s = now_s_ - std::max(position.ended_s, island.since_s);
  if (position.stands) {
    account_.spend(Loss::sync, rest_s);
  } else if (at_end) {
    unended_s_ += rest_s;
  } else {
    account_.cut(rest_s);
  }
  // If islands do not wait for each other, others may be further ahead.
  island.shared = std::max(island.shared, std::min(exchanges_.last_exchange(index), step));
  island.step = step;
  exchanges_.stop(index);
  down_.push_back(index);
}

// Takes over the snapshots that the island has saved since it began to train.
void IslandTrial::collect(int index, const Exchanges::Position& position) {
  Island& island = islands_[index];
  for (int tier = 0; tier < pace_.tiers(); ++tier) {
    const Cadence& cadence = pace_.cadence(tier);
    const std::int64_t period = cadence.every_iterations;
    if (period == 0) continue;
    const std::int64_t running = position.stands ? position.step - 1 : position.step;
    const std::int64_t newest = running / period * period;
    for (int back = cadence.kept; back >= 0; --back) {
      const std::int64_t step = newest - back * period;
      if (step <= island.step) continue;
      const double start_s = exchanges_.begun_s(index, step);
      if (start_s + cadence.complete_s <= now_s_) {
        island.copies.add_if_newer(tier, {step, start_s}, island.layout_out);
      }
    }
  }
  if (!plan_.has_replicas) return;
  island.copies.hold({std::max(position.step, island.step), position.ended_s},
                     {pool_.empty().begin(), pool_.empty().end()}, island.layout_out);
}

void IslandTrial::finish_repairs() {
  while (const std::optional<NodePool::Back> back = pool_.take_back(now_s_)) {
    if (back->slot == kNobody) continue;
    streams_.stands(back->slot, back->node, true, now_s_);
    Island& island = islands_[table_.of_node[back->slot]];
    --island.empty_slots;
    if (island.phase == Phase::training && island.layout_out > 0) {
      grow(table_.of_node[back->slot]);
      continue;
    }
    if (island.phase != Phase::waiting) continue;
    book(island);
    wait_or_restart(table_.of_node[back->slot]);
  }
}

// --- recovery

void IslandTrial::enter(Island& island, Phase phase, double duration_s) {
  island.phase = phase;
  island.since_s = now_s_;
  island.until_s = now_s_ + duration_s;
}

// Books the time that the island's phase has taken so far.
void IslandTrial::book(Island& island) {
  const double spent_s = now_s_ - island.since_s;
  island.since_s = now_s_;
  switch (island.phase) {
    case Phase::training:
      return;
    case Phase::saving:
      return account_.spend(Loss::stall, spent_s);
    case Phase::detecting:
      return account_.spend(Loss::detect, spent_s);
    case Phase::waiting:
      return account_.spend(Loss::wait, spent_s);
    case Phase::restarting:
    case Phase::loading:
      return account_.spend(Loss::restart, spent_s);
  }
}

void IslandTrial::go_on(int index) {
  Island& island = islands_[index];
  book(island);
  switch (island.phase) {
    case Phase::training:
      return;
    case Phase::saving: {
      island.copies.add(island.saver, {island.step, now_s_}, island.layout_out);
      FailureClass stop;
      stop.kind = FailureKind::planned;
      island.copies.end_trainers(stop);
      lose_leaving(index);
      return enter(island, Phase::detecting, island.detect_s);
    }
    case Phase::detecting:
      finish_repairs();
      return wait_or_restart(index);
    case Phase::waiting:
      return wait_or_restart(index);
    case Phase::restarting:
      island.provision_s = 0;
      if (!streams_.restart_works()) {
        ++failed_restarts_;
        return enter(island, Phase::restarting, inputs_.recovery.restart_s);
      }
      island.reads_all = true;
      return load(index);
    case Phase::loading:
      return end_load(index);
  }
}

double IslandTrial::pace_of(const Island& island) const {
  return island.layout_out == 0 ? 1 : table_.smaller_pace[island.layout_out - 1];
}

// Restarts the island with a node that is back. It takes a snapshot first if a tier keeps one
// through a restart.
void IslandTrial::grow(int index) {
  if (plan_.saver != kNoTier) return stop_as_planned(index, plan_.saver, 0);
  halt(index);
  islands_[index].detect_s = 0;
  enter(islands_[index], Phase::detecting, 0);
}

void IslandTrial::wait_or_restart(int index) {
  Island& island = islands_[index];
  const bool fits = island.empty_slots <= std::ssize(table_.smaller_pace);
  island.layout_out = fits ? island.empty_slots : 0;
  if (!fits) {
    if (inputs_.recovery.when_no_spare == WhenNoSpare::shrink) {
      exchanges_.drop(index);
    }
    return enter(island, Phase::waiting, kInfinity);
  }
  if (island.link_up_s > now_s_) return enter(island, Phase::waiting, island.link_up_s - now_s_);
  enter(island, Phase::restarting, inputs_.recovery.restart_s + island.provision_s);
}

// Whether the other training islands together hold all parameters of this one; with paths, each of
// its modules.
bool IslandTrial::others_hold_all(int index) const {
  if (table_.own_parts || !exchanges_.peers(index)) return false;
  if (table_.far_modules == 0) return true;
  bool near = false;
  bool far = false;
  for (int other = 0; other < table_.count; ++other) {
    if (other == index || !exchanges_.trains(other)) continue;
    near |= other / table_.far_modules == index / table_.far_modules;
    far |= other % table_.far_modules == index % table_.far_modules;
  }
  return near && far;
}

// Returns the island's own copy if it is newer than the others' state. A copy from after an
// exchange whose result the others have lost is useless. Before the first exchange the others hold
// the common start, which is not streamed. Private parameters come only from the own copy, and the
// others wait until the island has caught up.
IslandTrial::Source IslandTrial::newest(int index) const {
  const Island& island = islands_[index];
  Source source{exchanges_.peers(index), island.copies.newest(false, island.layout_out)};
  if (!source.peers) return source;
  if (!others_hold_all(index)) {
    source.peers.reset();
    source.own.iteration = std::min(source.own.iteration, exchanges_.limit(index));
    return source;
  }
  const std::int64_t own = source.own.iteration;
  if (own > source.peers->step && own <= exchanges_.limit(index)) {
    source.peers.reset();
  } else if (source.peers->step == 0) {
    source = {};
  }
  return source;
}

void IslandTrial::load(int index) {
  Island& island = islands_[index];
  const Source source = newest(index);
  const bool copied = !source.peers && source.own.tier != kNoTier;
  const StartupReads& startup =
      copied ? inputs_.table.tiers[source.own.tier].startup : inputs_.table.anew;
  double load_s = source.peers ? table_.levels[source.peers->level].stream_s : source.own.load_s;
  if (island.reads_all) {
    load_s += startup.alone_s + (streams_.meets_storm() ? startup.storm_s : 0);
  }
  island.reads_all = false;
  enter(island, Phase::loading, load_s);
}

void IslandTrial::end_load(int index) {
  Island& island = islands_[index];
  finish_repairs();
  const auto [peers, own] = newest(index);
  std::size_t source = restored_from_.size() - 1;
  if (peers) {
    begin(index, peers->step);
    take_weights_of_others(island, peers->step);
  } else {
    if (own.bad) {
      island.copies.discard(own.tier);
      return load(index);
    }
    source = own.tier == kNoTier ? restored_from_.size() - 2 : own.tier;
    begin(index, std::max<std::int64_t>(0, own.iteration));
  }
  if (island.fails) ++restored_from_[source];
  island.fails = false;
  if (CampaignEvent* event = log(CampaignEvent::Kind::restored)) {
    event->nodes = {index};
    event->iteration = island.step;
  }
  if (island.empty_slots < island.layout_out) grow(index);  // a node has come back meanwhile
}

// An island that takes others' weights loses its work since its last exchange. With several
// fragments it loses the work on each fragment since that fragment's exchange.
void IslandTrial::take_weights_of_others(Island& island, std::int64_t step) {
  if (step > island.shared) {
    // The others went on without it.
    island.missed.emplace_back(island.shared, step);
  } else if (table_.fragments > 1) {
    const double cycle = table_.levels.front().cycle_steps;
    const auto own = static_cast<double>(step - island.fresh);
    double lost = 0;
    for (int since = 0; since < table_.fragments; ++since) lost += std::min(since * cycle, own);
    const auto steps = static_cast<std::int64_t>(lost / table_.fragments);
    if (steps > 0) island.missed.emplace_back(step - steps, step);
  }
  island.fresh = island.shared = step;
}

void IslandTrial::begin(int index, std::int64_t step) {
  Island& island = islands_[index];
  exchanges_.set_state(index, step);
  island.copies.forget_after(step);
  island.shared = std::min(island.shared, step);
  island.fresh = std::min(island.fresh, step);
  std::erase_if(island.missed, [&](const auto& missed) { return missed.first >= step; });
  for (auto& [first, last] : island.missed) last = std::min(last, step);
  exchanges_.begin(index, step, now_s_, pace_of(island));
  island.phase = Phase::training;
  island.since_s = now_s_;
  island.step = step;
  std::erase(down_, index);
}

void IslandTrial::miss(int index, double at_s, std::int64_t shared, std::int64_t step) {
  Island& island = islands_[index];
  const double until_s = now_s_;
  now_s_ = at_s;
  shared = std::max(shared, island.shared);
  halt(index);
  std::erase(down_, index);
  // An island with private parameters may have been behind by more than this exchange.
  shared = std::min(shared, island.step);
  exchanges_.begin(index, step, at_s, pace_of(island));
  island.missed.emplace_back(shared, step);
  island.fresh = island.shared = island.step = step;
  island.since_s = at_s;
  now_s_ = until_s;
}

void IslandTrial::stop_all_as_planned(double detect_s) {
  CHECK(plan_.saver != kNoTier, "a planned stop that no tier survives");
  for (int index = 0; index < table_.count; ++index) {
    if (exchanges_.trains(index)) stop_as_planned(index, plan_.saver, detect_s);
  }
}

void IslandTrial::stop_as_planned(int index, int tier, double detect_s) {
  Island& island = islands_[index];
  halt(index);
  island.detect_s = detect_s;
  island.saver = tier;
  enter(island, Phase::saving, inputs_.table.tiers[tier].complete_s);
}

// --- the end

// Returns how many steps of the island are not lost.
std::int64_t IslandTrial::counted(int index) const {
  const Island& island = islands_[index];
  std::int64_t step = island.step;
  if (island.phase != Phase::training) {
    const std::int64_t held = others_hold_all(index) ? island.shared : 0;
    step = std::min(step, std::max(held, island.copies.newest(true, island.layout_out).iteration));
  }
  std::int64_t missed = 0;
  for (const auto& [first, last] : island.missed) {
    missed += std::max<std::int64_t>(0, std::min(last, step) - first);
  }
  return std::max<std::int64_t>(0, step - missed);
}

TrialResult IslandTrial::result() {
  std::int64_t steps = 0;
  // The state of islands that train is read before they stop.
  for (int index = 0; index < table_.count; ++index) {
    if (!exchanges_.trains(index)) steps += counted(index);
  }
  for (int index = 0; index < table_.count; ++index) {
    const bool trains = exchanges_.trains(index);
    halt(index, true);
    if (trains) steps += counted(index);
  }
  TrialResult result;
  const double islands = table_.count;
  account_.close(steps, now_s_ * islands - unended_s_, result);
  result.wall_s /= islands;
  result.useful_s /= islands;
  for (double& lost_s : result.lost_s) lost_s /= islands;
  for (double& seconds : result.at_size_s) seconds /= islands;
  result.iterations /= table_.count;
  for (auto* counts : {&result.snapshots, &result.skipped_snapshots}) {
    for (std::int64_t& count : *counts) count /= table_.count;
  }
  result.failures = failures_;
  result.restored_from = restored_from_;
  result.node_down_s = pool_.down_s();
  result.count(CampaignCount::failed_restarts) = failed_restarts_;
  result.count(CampaignCount::evicted_nodes) = pool_.evicted();
  result.count(CampaignCount::islands_lost) = islands_lost_;
  if (CampaignEvent* event = log(CampaignEvent::Kind::end)) event->at_s = now_s_;
  return result;
}

CampaignEvent* IslandTrial::log(CampaignEvent::Kind kind) {
  if (events_ == nullptr) return nullptr;
  CampaignEvent& event = events_->emplace_back();
  event.kind = kind;
  event.at_s = now_s_;
  return &event;
}

}  // namespace windtunnel
