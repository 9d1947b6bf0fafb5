// Hanayo: micro-batches run back and forth over the ranks in waves (Liu et al., SC 2023, arXiv
// 2308.15762). The paper publishes no order, so the rule below is assumed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {
namespace {

// Which forward a free rank takes if several are possible.
enum class Prefer {
  oldest,         // the oldest micro-batch's: ends waves soon, best if at most p are in flight
  earliest_stage  // feeds the first waves: better while micro-batches keep coming
};

// Lists each rank's passes as they would run if a forward took one tick and a backward two. A free
// rank takes a backward rather than a forward, that of the oldest micro-batch first. At most p
// micro-batches are in flight. A micro-batch runs one pass at a time, so its index identifies the
// pass.
class WaveOrder {
 public:
  WaveOrder(Schedule& schedule, Prefer prefer)
      : schedule_(schedule),
        prefer_(prefer),
        stages_(schedule.stages()),
        passed_(schedule.units(), 0),
        ready_(schedule.ranks),
        free_(schedule.ranks, true) {}

  // Adds micro-batches `first` to `last` - 1 after all earlier ones. Returns the number of ticks.
  int add(int first, int last) {
    int next = first;
    while (next < std::min(first + schedule_.ranks, last)) arrive(next++);
    int under_way = next - first;
    int tick = 0;
    for (;; ++tick) {
      auto& ending = ending_[tick % ending_.size()];
      for (const int unit : ending) {
        free_[rank_of(unit)] = true;
        if (++passed_[unit] < 2 * stages_) {
          arrive(unit);
        } else if (next < last) {
          arrive(next++);
        } else {
          --under_way;
        }
      }
      ending.clear();
      if (under_way == 0) return tick;
      for (int rank = 0; rank < schedule_.ranks; ++rank) start(rank, tick);
    }
  }

 private:
  bool forward(int unit) const { return passed_[unit] < stages_; }
  int stage(int unit) const {
    return forward(unit) ? passed_[unit] : 2 * stages_ - 1 - passed_[unit];
  }
  int rank_of(int unit) const { return schedule_.rank_of_stage[stage(unit)]; }

  void arrive(int unit) {
    const bool by_stage = forward(unit) && prefer_ == Prefer::earliest_stage;
    ready_[rank_of(unit)].push({forward(unit), by_stage ? stage(unit) : 0, unit});
  }

  void start(int rank, int tick) {
    if (!free_[rank] || ready_[rank].empty()) return;
    const int unit = std::get<2>(ready_[rank].top());
    ready_[rank].pop();
    free_[rank] = false;
    ending_[(tick + (forward(unit) ? 1 : 2)) % ending_.size()].push_back(unit);
    schedule_.actions[rank].emplace_back(forward(unit) ? ActionKind::forward : ActionKind::backward,
                                         stage(unit), unit);
  }

  using Pass = std::tuple<bool, int, int>;  // is a forward, stage if it counts, unit
  Schedule& schedule_;
  const Prefer prefer_;
  const int stages_;
  std::vector<int> passed_;  // [unit] passes done: first all forwards, then all backwards
  std::vector<std::priority_queue<Pass, std::vector<Pass>, std::greater<>>> ready_;  // [rank]
  std::vector<bool> free_;                                                           // [rank]
  std::array<std::vector<int>, 3> ending_;  // [tick % 3] units with a pass that ends then
};

}  // namespace

// Runs flights of p micro-batches one after another, or all micro-batches in one stream, whichever
// takes fewer ticks.
Schedule generate_hanayo(const ScheduleRequest& request) {
  if (request.chunks % 2 != 0) {
    refuse_chunks("hanayo",
                  fmt::format("two model chunks per rank for each wave, an even number, not {}",
                              request.chunks));
  }
  Schedule flights = empty_schedule("hanayo", request, Placement::vee);
  WaveOrder by_flight(flights, Prefer::oldest);
  int flights_ticks = 0;
  for (int first = 0; first < request.microbatches; first += request.ranks) {
    flights_ticks += by_flight.add(first, std::min(first + request.ranks, request.microbatches));
  }
  if (request.microbatches <= request.ranks) return flights;
  Schedule stream = empty_schedule("hanayo", request, Placement::vee);
  const int stream_ticks = WaveOrder(stream, Prefer::earliest_stage).add(0, request.microbatches);
  return stream_ticks < flights_ticks ? stream : flights;
}

}  // namespace windtunnel
