// Bounds that the result of no scenario may leave, and random scenarios of which each has to run
// within them or to be refused with its place.
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

// These bounds hold for a record with a campaign.
const std::vector<RecordBound>& record_bounds();

struct RandomJobs {
  const char* name;  // of their files, before the number
  int jobs;          // of all blocks
  int blocks;        // which run beside each other
  std::function<std::string(std::uint64_t number)> text;
  std::function<void(const Record& record, const std::string& text)> check;
};

// Runs the jobs of a block; those that the reader refuses do not count as run, and it must not
// refuse nearly all.
void expect_run_or_refused(const RandomJobs& random, int block);

// A check: record_bounds() and `more` hold.
std::function<void(const Record& record, const std::string& text)> within_bounds(
    const std::vector<RecordBound>& more);

}  // namespace windtunnel
