// A grid of cases, each with its campaigns: iterations are simulated once per distinct table
// (table_key), then all campaigns run from event to event on all cores, with the same random
// numbers at every point.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/record.hpp"
#include "scenarios/case.hpp"

namespace windtunnel {

struct SweepPoint {
  int index = 0;    // in the grid
  Overrides set;    // what it varies
  std::string key;  // of the case; empty: infeasible before there was one
  std::string reason;            // not empty: infeasible, and why
  std::optional<Record> record;  // without Plan, Timeline and path
};

struct SweepOptions {
  int threads = 0;  // 0: all cores; the same bytes for any number
  // Indices to run; the others are left out. Empty: all.
  std::vector<int> only{};
  // Called once per point, one call at a time, in any order.
  std::function<void(const SweepPoint&)> finished = {};
  std::function<void(const std::string&)> progress = {};
  const std::atomic<bool>* stop = nullptr;  // set: the points under way are finished, no more begun
};

// `points`: the grid (cross_product of the varied keys). Throws Error when the scenario itself is
// wrong at every point for the same reason.
void run_sweep(const std::string& scenario, const Overrides& set,
               const std::vector<Overrides>& points, const SweepOptions& options);

}  // namespace windtunnel
