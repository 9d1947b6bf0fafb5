// From a case to its figures.
//
// The engine keeps one clock per process, so simulate() and sweep() fork a child for each of its
// runs (a few per case), which computes, sends its result through a pipe and ends. The calling
// process stays as it was; a child that dies is an Error. Threads are allowed, and both functions
// may be called from several. stdout and stderr are flushed before each fork.
//
// What a child inherits, and what that asks of a caller with handlers, locks or a malloc() of its
// own: docs/reference/library.md of the project, "Child processes".
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>
#include <windtunnel/case.hpp>
#include <windtunnel/export.hpp>
#include <windtunnel/figures.hpp>
#include <windtunnel/timeline.hpp>

namespace windtunnel_api {

struct SimulateOptions {
  int threads = 0;  // for months with failures; 0: all cores; the same results for any number
  bool allow_oom = false;  // simulate although it does not fit in memory
  std::function<void(const std::string& step)> progress = {};  // told each step before it starts
  // Where a stop is requested, simulate() throws an Error (Cause::failed) before the next step or
  // trial of a campaign.
  std::stop_token stop = {};
};

// One that was moved from may only be assigned to or destroyed.
class WINDTUNNEL_API Result {
 public:
  const Figures& figures() const&;
  Figures figures() &&;  // of a result that ends with the expression
  double operator[](std::string_view key) const { return figures()[key]; }

  // The document of `windtunnel run --json`.
  std::string json() const;
  // The page that `windtunnel run --out` writes as report.html: one file that opens offline.
  std::string page() const;
  // The Plan of the simulated step with its Timeline: of each rank that was recorded, ascending.
  std::vector<RankTimeline> timeline() const;

  struct State;
  explicit Result(std::shared_ptr<const State> state);

 private:
  std::shared_ptr<const State> state_;
};

// Throws Error: the case contradicts itself (Cause::input), or does not fit in the memory of GPUs
// or hosts (Cause::failed).
WINDTUNNEL_API Result simulate(const Case& the_case, const SimulateOptions& options = {});

}  // namespace windtunnel_api
