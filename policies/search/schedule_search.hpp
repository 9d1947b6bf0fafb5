// Finds the best order of a pipeline's actions under a memory limit. It tries every named schedule,
// families made for the given times (warm-up depths, periodic patterns), and a local search from
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
  makespan,       // matters if the optimizer step waits for all ranks
};

struct SearchOptions {
  SearchObjective objective = SearchObjective::longest_stage;
  // Number of actions that all chains of the local search together evaluate. The result depends on
  // this number, not on time.
  double effort = 2e7;
  // Time limit; with a limit the result depends on the machine. 0: no limit.
  double seconds = 0;
  std::uint64_t seed = 1;
  int threads = 0;                              // 0: all cores; the result does not depend on it
  const std::atomic<bool>* stop = nullptr;      // true: the search ends with the best order so far
  std::function<void(std::string)> progress{};  // called from one thread
};

struct SearchCandidate {
  std::string name;
  ScheduleEvaluation evaluation;
  double peak_activation = 0;  // of the fullest rank
  bool fits = true;            // within the memory limit
};

struct FoundOrder {
  std::string name;
  Schedule schedule;
  double value_s = 0;  // of the objective
};

// A named order that neither the search nor its bound covers.
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
  // Best first; candidates that do not fit come last.
  std::vector<SearchCandidate> candidates;
  // Best first; orders that do not fit come last. The bound does not cover them.
  std::vector<LeftOutOrder> left_out;
  // Orders that fit, best first, if messages occupy ports (ScheduleRequest::port_s). On a network,
  // messages also share ports with those of other ranks, so there another order may be the best.
  std::vector<FoundOrder> orders;
  double timed_orders = 0;  // number of orders from families and local search
  bool stopped = false;     // the time limit or the caller ended the search

  // Returns by how much another order might be better at most, relative to the bound.
  double gap() const { return bound_s > 0 ? value_s / bound_s - 1 : 0; }
};

// Says in words which orders the search and its bound cover.
inline constexpr const char* kSearched =
    "synchronous schedules with one direction and whole micro-batches that run one pass at a time";

double objective_s(const ScheduleEvaluation& evaluation, SearchObjective objective);

// The request must have no slices. Throws Error if no schedule fits in the memory limit, or as
// generate_schedule does if numbers are out of range.
SearchResult search_schedule(const ScheduleRequest& request, const SearchOptions& options = {});

}  // namespace windtunnel
