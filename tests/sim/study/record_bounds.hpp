// No result of a scenario may violate these bounds. Random scenarios must run within them or be
// refused with their place.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/results/record.hpp"

namespace windtunnel {

inline constexpr double kRounding = 1e-9;

inline bool near(double a, double b, double tolerance = kRounding) {
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

struct RecordBound {
  const char* name;
  std::function<bool(const Record&)> holds;
};

// Returns the bounds of a record with a campaign.
const std::vector<RecordBound>& record_bounds();

struct RandomJobs {
  const char* name;  // of their files, in front of the number
  int jobs;          // of all blocks
  int blocks;        // blocks run in parallel
  std::function<std::string(std::uint64_t number)> text;
  std::function<void(const Record& record, const std::string& text)> check;
};

// Runs the jobs of a block. Jobs that the reader refuses do not count as run; it may not refuse
// nearly all.
void expect_run_or_refused(const RandomJobs& random, int block);

// Returns a check that record_bounds() and `more` hold.
std::function<void(const Record& record, const std::string& text)> within_bounds(
    const std::vector<RecordBound>& more);

}  // namespace windtunnel
