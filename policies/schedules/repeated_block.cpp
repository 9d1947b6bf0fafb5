#include "policies/schedules/repeated_block.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace windtunnel {
namespace {

enum Pass { kForward0, kForward1, kBackward1, kBackward0, kWeight, kNothing };
constexpr int kPasses = kNothing;

struct Event {
  int slot;
  int rank;
  int pass;
  int unit;  // kWeight: index among the rank's weight gradients
};

// Sorts events by slot. Events of one slot keep their order.
std::vector<Event> by_slot(const std::vector<Event>& events) {
  std::vector<int> places;  // [slot + 1] number of events before the slot, then the next free place
  for (const Event& event : events) {
    if (event.slot + 2 > static_cast<int>(places.size())) places.resize(event.slot + 2, 0);
    ++places[event.slot + 1];
  }
  std::partial_sum(places.begin(), places.end(), places.begin());
  std::vector<Event> sorted(events.size());
  for (const Event& event : events) sorted[places[event.slot]++] = event;
  return sorted;
}

// Assigns slots to passes. Memory counts chunks of activations: a forward adds one, the weight
// gradient of any chunk takes one away. A weight gradient is always that of the oldest pending
// input gradient, so it need not name its chunk.
class Weave {
 public:
  Weave(const std::vector<BlockSlots>& block, int period, int units)
      : ranks_(static_cast<int>(block.size())), units_(units), slots_(block.size()) {
    for (int rank = 0; rank < ranks_; ++rank) {
      for (int pass = kForward0; pass < kWeight; ++pass) {
        for (int i = 0; i < units; ++i)
          slots_[rank][pass].push_back(block[rank][pass] + i * period);
      }
    }
  }

  void build() {
    place_weights();
    move_fill_and_drain();
    squeeze();
    for (auto& rank : slots_) rank[kWeight].clear();
    move_drain();
    place_weights();
  }

  std::vector<Event> order(int rank) const {
    std::vector<Event> events;
    append_events(rank, events);
    return by_slot(events);
  }

 private:
  void append_events(int rank, std::vector<Event>& events) const {
    for (int pass = 0; pass < kPasses; ++pass) {
      const auto& slots = slots_[rank][pass];
      for (int i = 0; i < static_cast<int>(slots.size()); ++i) {
        events.push_back({slots[i], rank, pass, i});
      }
    }
  }

  std::vector<Event> all_in_order() const {
    std::vector<Event> events;
    for (int rank = 0; rank < ranks_; ++rank) append_events(rank, events);
    return by_slot(events);
  }

  // Returns for each slot the rank's pass in it.
  std::vector<int> passes_by_slot(int rank) const {
    std::vector<int> passes;
    for (const Event& event : order(rank)) {
      passes.resize(event.slot + 1, kNothing);
      passes[event.slot] = event.pass;
    }
    return passes;
  }

  // Puts a weight gradient into every free slot after its input gradient.
  void place_weights() {
    for (int rank = 0; rank < ranks_; ++rank) {
      const std::vector<int> passes = passes_by_slot(rank);
      auto& weights = slots_[rank][kWeight];
      int pending = 0;
      int slot = 0;
      for (; slot < static_cast<int>(passes.size()) || pending > 0; ++slot) {
        const int pass = slot < static_cast<int>(passes.size()) ? passes[slot] : kNothing;
        if (pass == kBackward0 || pass == kBackward1) ++pending;
        if (pass != kNothing || pending == 0) continue;
        weights.push_back(slot);
        --pending;
      }
    }
  }

  // Returns the first slot that the passes on which this one depends allow.
  int earliest(const Event& event) const {
    const int pass = event.pass;
    const int unit = event.unit;
    int after = unit > 0 ? slots_[event.rank][pass][unit - 1] : -1;
    const bool down = pass == kForward0 || pass == kBackward1;
    const int neighbour = event.rank + (down ? -1 : 1);
    if (0 <= neighbour && neighbour < ranks_) {
      after = std::max(after, slots_[neighbour][pass][unit]);
    }
    if (pass > kForward0) after = std::max(after, slots_[event.rank][pass - 1][unit]);
    return after + 1;
  }

  // The fill ends when the first micro-batch is through; the drain begins with the last one.
  struct Phases {
    size_t fill_end = 0;
    size_t drain_begin = 0;
  };
  Phases phases(const std::vector<Event>& events) const {
    Phases phases;
    for (size_t i = 0; i < events.size(); ++i) {
      const Event& event = events[i];
      if (event.rank != 0) continue;
      if (event.pass == kBackward0 && event.unit == 0) phases.fill_end = i;
      if (event.pass == kForward0 && event.unit == units_ - 1) phases.drain_begin = i;
    }
    phases.drain_begin = std::max(phases.drain_begin, phases.fill_end);
    return phases;
  }

  static int change(int pass) {
    if (pass == kForward0 || pass == kForward1) return 1;
    return pass == kWeight ? -1 : 0;
  }

  // Returns the first slot from `low` on with memory for one more chunk from there to `slot`.
  static int first_room(const std::vector<int>& memory, int limit, int low, int slot) {
    while (slot > low && memory[slot - 1] < limit) --slot;
    return slot;
  }

  void move_fill_and_drain() {
    std::vector<std::vector<int>> memory(ranks_);  // [rank][slot] chunks held after the slot
    int limit = 0;
    for (int rank = 0; rank < ranks_; ++rank) {
      int now = 0;
      for (const int pass : passes_by_slot(rank)) {
        memory[rank].push_back(now += change(pass));
        limit = std::max(limit, now);
      }
    }
    std::vector<std::vector<bool>> taken(ranks_);     // [rank][slot]
    std::vector<std::vector<int>> backwards(ranks_);  // [rank] slots of its backwards, ascending
    for (int rank = 0; rank < ranks_; ++rank) taken[rank].resize(memory[rank].size());
    const std::vector<Event> events = all_in_order();
    const Phases phases = this->phases(events);
    const auto earliest_weight = [&](int rank, int unit) {
      const int before = unit > 0 ? slots_[rank][kWeight][unit - 1] : -1;
      return std::max(backwards[rank][unit], before) + 1;
    };
    for (size_t i = 0; i < events.size(); ++i) {
      const auto [slot, rank, pass, unit] = events[i];
      int to = slot;
      if (i < phases.fill_end || i > phases.drain_begin) {
        to = pass == kWeight ? earliest_weight(rank, unit) : earliest(events[i]);
        if (change(pass) > 0) to = first_room(memory[rank], limit, to, slot);
        while (to < slot && taken[rank][to]) ++to;
        for (int at = to; at < slot; ++at) memory[rank][at] += change(pass);
      }
      slots_[rank][pass][unit] = to;
      taken[rank][to] = true;
      if (pass == kBackward0 || pass == kBackward1) {
        auto& slots = backwards[rank];
        slots.insert(std::ranges::upper_bound(slots, to), to);
      }
    }
  }

  // Moves every pass as early as the order on each rank allows.
  void squeeze() {
    std::vector<int> free(ranks_, 0);  // [rank] first slot after its passes so far
    for (const Event& event : all_in_order()) {
      int slot = free[event.rank];
      if (event.pass != kWeight) slot = std::max(slot, earliest(event));
      slots_[event.rank][event.pass][event.unit] = slot;
      free[event.rank] = slot + 1;
    }
  }

  // What a rank holds before a slot if weight gradients fill its free slots.
  struct Filled {
    int pending = 0;
    int memory = 0;
    bool operator==(const Filled&) const = default;

    void pass(int pass) {
      memory += change(pass);
      if (pass == kBackward0 || pass == kBackward1) ++pending;
      if (pass != kNothing || pending == 0) return;
      --pending;
      --memory;
    }
  };
  struct Rank {
    std::vector<int> passes;     // [slot]
    std::vector<Filled> before;  // [slot]
  };

  // Tries to move the pass at `from` to the free slot `to`.
  static bool move(Rank& rank, int from, int to, int limit) {
    std::swap(rank.passes[from], rank.passes[to]);
    Filled now = rank.before[to];
    std::vector<Filled> before;
    for (int slot = to; slot < static_cast<int>(rank.passes.size()); ++slot) {
      if (slot > from && now == rank.before[slot]) break;
      before.push_back(now);
      now.pass(rank.passes[slot]);
      if (now.memory <= limit) continue;
      std::swap(rank.passes[from], rank.passes[to]);
      return false;
    }
    std::ranges::copy(before, rank.before.begin() + to);
    return true;
  }

  // Moves passes once more, because weight gradients can now make room in the drain.
  void move_drain() {
    std::vector<Rank> ranks(ranks_);
    int limit = 0;
    for (int rank = 0; rank < ranks_; ++rank) {
      ranks[rank].passes = passes_by_slot(rank);
      Filled now;
      for (const int pass : ranks[rank].passes) {
        ranks[rank].before.push_back(now);
        now.pass(pass);
        limit = std::max(limit, now.memory);
      }
    }
    const std::vector<Event> events = all_in_order();
    for (size_t i = phases(events).drain_begin + 1; i < events.size(); ++i) {
      const Event& event = events[i];
      Rank& rank = ranks[event.rank];
      for (int to = earliest(event); to < event.slot; ++to) {
        if (rank.passes[to] != kNothing || !move(rank, event.slot, to, limit)) continue;
        slots_[event.rank][event.pass][event.unit] = to;
        break;
      }
    }
  }

  const int ranks_;
  const int units_;
  std::vector<std::array<std::vector<int>, kPasses>> slots_;  // [rank][pass][unit]
};

using Lists = std::vector<std::vector<Action>>;  // [rank]

Lists woven(const std::vector<BlockSlots>& block, int period, int units) {
  Weave weave(block, period, units);
  weave.build();
  const int ranks = static_cast<int>(block.size());
  Lists lists(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    const int first = rank;
    const int second = 2 * ranks - 1 - rank;
    auto& actions = lists[rank];
    std::vector<Action> weights;  // in the order of their input gradients
    for (const Event& event : weave.order(rank)) {
      const int stage = event.pass == kForward0 || event.pass == kBackward0 ? first : second;
      if (event.pass == kWeight) {
        actions.push_back(weights[event.unit]);
      } else if (event.pass == kForward0 || event.pass == kForward1) {
        actions.emplace_back(ActionKind::forward, stage, event.unit);
      } else {
        actions.emplace_back(ActionKind::backward_input, stage, event.unit);
        weights.emplace_back(ActionKind::backward_weight, stage, event.unit);
      }
    }
  }
  return lists;
}

constexpr int kActions = 6;  // of a micro-batch on a rank

Action later(Action action, int units) {
  action.unit += units;
  return action;
}

// Where the rank can repeat a micro-batch's actions: around its middle the order of `units`
// micro-batches must be the same from one to the next for half of them. -1: it is not.
std::ptrdiff_t steady_place(const std::vector<Action>& actions, int units) {
  const std::ptrdiff_t half = kActions * std::ptrdiff_t(units) / 4;
  const std::ptrdiff_t middle = std::ssize(actions) / 2;
  for (std::ptrdiff_t i = middle - half; i < middle + half; ++i) {
    if (actions[i + kActions] != later(actions[i], 1)) return -1;
  }
  return middle;
}

// Adds `more` micro-batches to lists of `units`. Returns false if these have no steady state; the
// lists are then of no use.
bool lengthen(Lists& lists, int units, int more) {
  for (auto& actions : lists) {
    const std::ptrdiff_t place = steady_place(actions, units);
    if (place < 0) return false;
    std::vector<Action> longer(actions.begin(), actions.begin() + place);
    longer.reserve(actions.size() + std::size_t(kActions) * more);
    for (int unit = 0; unit < more; ++unit) {
      for (int i = 0; i < kActions; ++i) longer.push_back(later(actions[place + i], unit));
    }
    for (std::ptrdiff_t i = place; i < std::ssize(actions); ++i) {
      longer.push_back(later(actions[i], more));
    }
    actions = std::move(longer);
  }
  return true;
}

}  // namespace

void repeat_block(const std::vector<BlockSlots>& block, int period, Schedule& schedule,
                  int woven_per_rank) {
  const int units = schedule.units();
  const auto most = std::int64_t(woven_per_rank) * schedule.ranks;
  const int few = static_cast<int>(std::min<std::int64_t>(units, most));
  Lists lists = woven(block, period, few);
  if (few < units && !lengthen(lists, few, units - few)) lists = woven(block, period, units);
  schedule.actions = std::move(lists);
}

}  // namespace windtunnel
