// Simulates a case and returns its figures.
//
// The engine has one clock per process, so simulate() and sweep() fork a child for each of its runs
// (a few per case), which computes, sends its result through a pipe and exits. The calling process
// is not changed; a child that dies causes an Error. Threads are allowed, and both functions may be
// called concurrently. stdout and stderr are flushed before each fork.
//
// docs/reference/library.md of the project, "Child processes", tells what a child inherits and what
// callers with signal handlers, locks or their own malloc() must know.
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
  int threads = 0;         // for campaigns; 0: all cores; results do not depend on it
  bool allow_oom = false;  // simulate although the job does not fit in memory
  std::function<void(const std::string& step)> progress = {};  // called before each step
  // When a stop is requested, simulate() throws an Error (Cause::failed) before the next step or
  // trial of a campaign.
  std::stop_token stop = {};
};

// A moved-from object may only be assigned to or destroyed.
class WINDTUNNEL_API Result {
 public:
  const Figures& figures() const&;
  Figures figures() &&;  // for a temporary result
  double operator[](std::string_view key) const { return figures()[key]; }

  // The document of `windtunnel run --json`.
  std::string json() const;
  // The page that `windtunnel run --out` writes as report.html: one file that opens offline.
  std::string page() const;
  // The Plan of the simulated step with its Timeline: one entry per recorded rank, ascending.
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
