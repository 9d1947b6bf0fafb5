// The best order of a pipeline's actions under a memory limit: every schedule that has a name,
// families made for the given times (warm-up depths, periodic patterns), and a local search on
// their orders. What the result is worth is said by its gap to schedule_bound.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/schedules/schedules.hpp"
#include "policies/search/schedule_bounds.hpp"

namespace windtunnel {

enum class SearchObjective {
  longest_stage,  // max over ranks of last end - first start (Zero Bubble; post-validation)
  makespan,       // what counts when the optimizer step waits for all ranks
};

struct SearchOptions {
  SearchObjective objective = SearchObjective::longest_stage;
  // Actions timed by the local search, of all its chains; the result depends on it, not on time.
  double effort = 2e7;
  // Ends earlier; what is found then depends on the machine. 0: no limit.
  double seconds = 0;
  std::uint64_t seed = 1;
  int threads = 0;                              // 0: all cores; the result is the same
  const std::atomic<bool>* stop = nullptr;      // ends with the best so far
  std::function<void(std::string)> progress{};  // called from one thread
};

struct SearchCandidate {
  std::string name;
  ScheduleEvaluation evaluation;
  double peak_activation = 0;  // of the worst rank
  bool fits = true;            // in the memory limit
};

struct FoundOrder {
  std::string name;
  Schedule schedule;
  double value_s = 0;  // of the objective
};

// An order by name that the search and its bound leave out.
struct LeftOutOrder {
  SearchCandidate order;
  std::string why;  // "forwards and backwards in pairs"
};

struct SearchResult {
  Schedule schedule;
  ScheduleEvaluation evaluation;
  std::string found_by;  // name of a candidate, "local search from ..."
  double value_s = 0;    // of the objective
  double bound_s = 0;
  std::string bound_because;
  // Best first; those that do not fit behind.
  std::vector<SearchCandidate> candidates;
  // Best first; those that do not fit behind. The bound is not of them.
  std::vector<LeftOutOrder> left_out;
  // That fit, best first, where messages take ports (ScheduleRequest::port_s): on a network they
  // share these with those of other ranks, too, so that another order may be the best there.
  std::vector<FoundOrder> orders;
  double timed_orders = 0;  // by families and local search
  bool stopped = false;     // by time or by the caller

  // How much better an order might be at most, relative to the bound.
  double gap() const { return bound_s > 0 ? value_s / bound_s - 1 : 0; }
};

// What orders the best and the bound are over, and which not, for people.
inline constexpr const char* kSearched =
    "synchronous orders of one direction, of whole micro-batches, that run one pass at a time";

double objective_s(const ScheduleEvaluation& evaluation, SearchObjective objective);

// A request without slices. Throws Error when no schedule fits in the memory limit, and as
// generate_schedule does for numbers that are out of range.
SearchResult search_schedule(const ScheduleRequest& request, const SearchOptions& options = {});

}  // namespace windtunnel
