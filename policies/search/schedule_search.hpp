// The best order of a pipeline's actions under a memory limit: every named schedule, families
// constructed for the given times (warm-up depths, periodic patterns), and a local search from
// their orders. The gap to schedule_bound shows how good the result is.
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
  makespan,       // relevant if the optimizer step waits for all ranks
};

struct SearchOptions {
  SearchObjective objective = SearchObjective::longest_stage;
  // Number of actions that the local search evaluates over all its chains. The result depends on
  // this, not on time.
  double effort = 2e7;
  // Time limit; the result then depends on the machine. 0: no limit.
  double seconds = 0;
  std::uint64_t seed = 1;
  int threads = 0;                              // 0: all cores; the result is the same
  const std::atomic<bool>* stop = nullptr;      // ends with the best order so far
  std::function<void(std::string)> progress{};  // called from one thread
};

struct SearchCandidate {
  std::string name;
  ScheduleEvaluation evaluation;
  double peak_activation = 0;  // of the worst rank
  bool fits = true;            // within the memory limit
};

struct FoundOrder {
  std::string name;
  Schedule schedule;
  double value_s = 0;  // of the objective
};

// A named order that the search and its bound exclude.
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
  // Best first; those that do not fit are last.
  std::vector<SearchCandidate> candidates;
  // Best first; those that do not fit are last. The bound does not cover them.
  std::vector<LeftOutOrder> left_out;
  // Lists the orders that fit, best first, if messages occupy ports (ScheduleRequest::port_s). On a
  // network, messages also share ports with those of other ranks, so another order may be the best
  // there.
  std::vector<FoundOrder> orders;
  double timed_orders = 0;  // number of orders from families and local search
  bool stopped = false;     // by time or by the caller

  // Upper limit of how much better an order might be, relative to the bound.
  double gap() const { return bound_s > 0 ? value_s / bound_s - 1 : 0; }
};

// Which orders the best and the bound cover, in words.
inline constexpr const char* kSearched =
    "synchronous schedules with one direction and whole micro-batches that run one pass at a time";

double objective_s(const ScheduleEvaluation& evaluation, SearchObjective objective);

// The request must have no slices. Throws Error if no schedule fits in the memory limit, and as
// generate_schedule does for numbers that are out of range.
SearchResult search_schedule(const ScheduleRequest& request, const SearchOptions& options = {});

}  // namespace windtunnel
