// Random scenarios of which each has to run, and to hold what is asked of it, or to be refused with
// its place.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/sim/study/record_bounds.hpp"

namespace windtunnel {

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
