// A case at every point of a grid. Iterations are simulated once for all points that share them.
// The case must have a campaign: without one, call simulate() in a loop.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>
#include <windtunnel/case.hpp>
#include <windtunnel/figures.hpp>

namespace windtunnel_api {

struct Varied {
  std::string key;
  std::vector<std::string> values;
};

struct SweepPoint {
  int index = 0;             // in the grid; the last key changes fastest
  std::vector<Setting> set;  // the point's values
  std::string reason;        // not empty: why it cannot be simulated, as in an Error's what()
  Figures figures;  // of iteration, campaign and job, without origin.* and advice on intervals
};

struct SweepOptions {
  int threads = 0;  // 0: all cores; the same results for any number
  // Called once per point, one call at a time, in any order, from any of the threads.
  std::function<void(const SweepPoint&)> finished = {};
  std::function<void(const std::string& step)> progress = {};
  std::stop_token stop = {};  // running points are finished, no new ones are started
};

// The points are in the order of the grid; if the sweep is stopped, only finished ones. Forks like
// simulate(). Throws Error if every point is contradictory, as with a misspelt key, and if a key
// has no values. Points that do not fit in memory are included with their reasons, even if none
// fits.
WINDTUNNEL_API std::vector<SweepPoint> sweep(const Case& the_case, const std::vector<Varied>& vary,
                                             const SweepOptions& options = {});

}  // namespace windtunnel_api
