#include "sim/campaign/exchanges.hpp"

#include <algorithm>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/reliability/stragglers/wait_rule.hpp"

namespace windtunnel {

Exchanges::Exchanges(const IslandTable& table, const Pace& pace)
    : table_(table), pace_(pace), islands_(table.count) {
  for (int level = 0; level < std::ssize(table.levels); ++level) {
    begin_of_level_.push_back(static_cast<int>(groups_.size()));
    const int members = table.levels[level].members;
    CHECK(members > 0 && table.count % members == 0, "{} islands in groups of {}", table.count,
          members);
    for (int first = 0; first < table.count; first += members) groups_.push_back({level, first});
  }
}

// Returns the time until the step begins, on a clock that starts with step 0. Step 0 takes no
// snapshot, because its state has just been loaded.
double Exchanges::elapsed_s(std::int64_t step) const {
  Steps done;
  if (step == 0) return 0;
  done.total = 1;
  pace_.add_iterations(done, 1, step);
  return pace_.elapsed_s(done);
}

// Returns the stall that the first step saves, because it takes no snapshot.
double Exchanges::spared_s(std::int64_t first) const {
  return first > 0 ? pace_.stall_s(pace_.due_by_iteration(first)) : 0;
}

// Returns how much later than the others an island may arrive without delaying them: the part of
// the delay that the exchange does not need. Step times contain its exposed time.
double Exchanges::slack_s(const IslandLevel& level) const {
  return std::max(0.0, level.delay_steps * pace_.iteration_s() - level.exchange_s);
}

void Exchanges::set_offset(int island, double offset_s) {
  islands_[island].offset_s = offset_s;
  for (int level = 0; level < std::ssize(table_.levels); ++level) {
    group_of(level, island).known = false;
  }
}

void Exchanges::begin(int island, std::int64_t step, double at_s, double pace) {
  islands_[island].pace = pace;
  set_offset(island, at_s - pace * elapsed_s(step) - pace * spared_s(step));
  islands_[island].first = step;
  mark(island, true, islands_[island].awaited);
}

void Exchanges::stop(int island) {
  CHECK(islands_[island].trains, "island {} stops twice", island);
  mark(island, false, islands_[island].awaited);
}

void Exchanges::drop(int island) {
  CHECK(!islands_[island].trains, "island {} drops out while it trains", island);
  mark(island, false, false);
}

void Exchanges::mark(int index, bool trains, bool awaited) {
  Island& island = islands_[index];
  for (int level = 0; level < std::ssize(table_.levels); ++level) {
    Group& group = group_of(level, index);
    group.down += int(island.trains) - int(trains);
    group.dropped += int(island.awaited) - int(awaited);
    group.lacking += int(awaited && !trains) - int(island.awaited && !island.trains);
    group.known = false;
  }
  island.trains = trains;
  island.awaited = awaited;
}

std::int64_t Exchanges::limit(int island, int from_level) const {
  std::int64_t limit = kManyIterations;
  for (int level = from_level; level < std::ssize(table_.levels); ++level) {
    const IslandLevel& of_level = table_.levels[level];
    if (!of_level.together) continue;
    const std::int64_t next = of_level.step_of(group_of(level, island).through + 1);
    limit = std::min(limit, next + of_level.delay_steps);
  }
  return limit;
}

Exchanges::Position Exchanges::position(int island, double at_s) const {
  const double offset_s = islands_[island].offset_s;
  const double pace = islands_[island].pace;
  if (pace != 1) at_s = offset_s + (at_s - offset_s) / pace;
  const std::int64_t most = limit(island);
  Position position;
  Steps none;
  // An island has ended no step before its first one ends. This also covers times before it starts.
  if (at_s < offset_s + pace_.iteration_s()) {
    position.step = 0;
  } else {
    none.total = 1;
    position.step =
        1 + pace_.iterations_by(at_s, offset_s, none, 1, std::max<std::int64_t>(0, most - 1));
  }
  // Without its snapshot the first step begins later, as seen from its end.
  const std::int64_t first = islands_[island].first;
  position.ended_s =
      begun_s(island, position.step) + (position.step == first ? pace * spared_s(first) : 0);
  position.stands = position.step == most;
  return position;
}

std::int64_t Exchanges::held_step(const Group& group) const {
  const IslandLevel& level = level_of(group);
  return level.step_of(group.through + 1) + level.delay_steps;
}

// An exchange waits for all members but `missing` of them, and for these too as long as that delays
// nobody. If every member that it waits for is down, the others go on without them.
void Exchanges::look_at(Group& group) {
  if (group.known) return;
  group.known = true;
  const IslandLevel& level = level_of(group);
  const double slack = slack_s(level);
  const std::int64_t step = held_step(group);
  bool alike = true;
  const bool any = group.dropped + group.lacking == level.members;
  double least_s = kInfinity;
  double most_s = -kInfinity;
  double awaited_s = -kInfinity;
  arrivals_.assign(group.lacking, kInfinity);
  for (int island = group.first; island < group.first + level.members; ++island) {
    if (!islands_[island].trains) continue;
    const double offset_s = whole_offset_s(island, step);
    alike = alike && islands_[island].pace == 1;
    least_s = std::min(least_s, offset_s);
    most_s = std::max(most_s, offset_s);
    if (!any && !islands_[island].awaited) continue;
    awaited_s = std::max(awaited_s, offset_s);
    if (level.missing > 0) arrivals_.push_back(offset_s);
  }
  group.last_offset_s = awaited_s;
  const int needed = std::max(1, level.members - group.dropped - level.missing);
  if (level.missing > 0 && !is_stuck(group)) {
    const int missing = static_cast<int>(std::ssize(arrivals_)) - needed;
    group.last_offset_s = end_of_wait({.missing = missing, .grace = slack}, arrivals_);
  }
  group.at_rest = !level.together || (alike && most_s <= group.last_offset_s &&
                                      least_s >= group.last_offset_s - slack &&
                                      group.dropped == group.down - group.lacking);
}

// Processes exchanges that change nothing, in all groups except `but`.
void Exchanges::catch_up(double until_s, const Group* but) {
  // Goes from outer to inner groups, because inner groups may get no further than outer ones.
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
    look_at(*group);
    if (is_stuck(*group) || !group->at_rest || &*group == but) continue;
    const IslandLevel& level = level_of(*group);
    const double time_s = until_s - group->last_offset_s + slack_s(level);
    if (time_s < pace_.iteration_s()) continue;
    Steps first;
    first.total = 1;
    const std::int64_t ended = 1 + pace_.iterations_by(time_s, 0, first, 1, kManyIterations);
    const std::int64_t step =
        std::min(ended - level.delay_steps, limit(group->first, group->level + 1));
    if (step < 0) continue;
    group->through = std::max(group->through, level.exchange_by(step));
  }
}

void Exchanges::settle(double until_s, const Told& told) {
  for (;;) {
    Group* next = nullptr;
    double next_s = until_s;
    for (Group& group : groups_) {
      look_at(group);
      if (group.at_rest || is_stuck(group)) continue;
      const IslandLevel& level = level_of(group);
      // The group has completed its earlier exchanges, so this exchange is its next one.
      const std::int64_t step = level.step_of(group.through + 1);
      if (step > limit(group.first, group.level + 1)) continue;
      const double at_s =
          group.last_offset_s - slack_s(level) + elapsed_s(step + level.delay_steps);
      if (at_s > next_s) continue;
      next = &group;
      next_s = at_s;
    }
    if (next == nullptr) break;
    catch_up(next_s, next);
    complete(*next, next_s, told);
  }
  catch_up(until_s, nullptr);
}

void Exchanges::complete(Group& group, double at_s, const Told& told) {
  const IslandLevel& level = level_of(group);
  const double last_s = group.last_offset_s;
  const double lifted_s = last_s - slack_s(level);
  const std::int64_t shared = level.step_of(group.through);
  const std::int64_t step = held_step(group);
  ++group.through;
  group.known = false;  // the next exchange may differ if islands have another pace
  for (int island = group.first; island < group.first + level.members; ++island) {
    if (!islands_[island].trains) continue;
    const bool late = whole_offset_s(island, step) > last_s;
    mark(island, true, true);
    if (late) {
      told.missed(island, at_s, shared, step);
      continue;
    }
    // An island that has not begun its first step takes no snapshot in it, so does not stall.
    const std::int64_t first = islands_[island].first;
    const double pace = islands_[island].pace;
    double offset_s = first == step ? lifted_s - pace * spared_s(first) : lifted_s;
    if (pace != 1) offset_s -= (pace - 1) * elapsed_s(step);
    if (islands_[island].offset_s >= offset_s) continue;
    told.waited(island, offset_s - islands_[island].offset_s);
    set_offset(island, offset_s);
  }
}

std::optional<Exchanges::Peers> Exchanges::peers(int island) const {
  Peers peers;
  bool found = false;
  for (int level = 0; level < std::ssize(table_.levels); ++level) {
    const Group& group = group_of(level, island);
    const int others = table_.levels[level].members - (trains(island) ? 1 : 0);
    const bool nearest = !found && group.down < others;
    if (nearest) peers.level = level;
    found = found || nearest;
    // The weights of the others contain their progress after these exchanges only if all of them
    // have applied the results.
    if (nearest || (found && table_.levels[level].together)) {
      peers.step = std::max(peers.step, table_.levels[level].step_of(group.through));
    }
  }
  if (!found) return std::nullopt;
  return peers;
}

std::int64_t Exchanges::last_exchange(int island) const {
  std::int64_t step = 0;
  for (int level = 0; level < std::ssize(table_.levels); ++level) {
    step = std::max(step, table_.levels[level].step_of(group_of(level, island).through));
  }
  return step;
}

void Exchanges::set_state(int island, std::int64_t step) {
  for (int level = 0; level < std::ssize(table_.levels); ++level) {
    const IslandLevel& of_level = table_.levels[level];
    Group& group = group_of(level, island);
    if (group.down < of_level.members) return;
    const std::int64_t taken_in = std::max<std::int64_t>(0, step - of_level.delay_steps);
    group.through = std::min(std::max(group.through, of_level.exchange_by(taken_in)),
                             of_level.exchange_by(step));
  }
}

}  // namespace windtunnel
