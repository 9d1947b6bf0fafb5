// Where the steps of a captured rank went: kernels by class, communication beside and behind them,
// and the GPU's idle time, of which what waits for the host.
//
// A step is what the host launches between two annotations ("ProfilerStep#"), and lasts from the
// start of its first kernel to that of the next step's: the host runs ahead of its GPU, so that its
// own annotations end too early. Without annotations a step ends behind each run of the optimizer's
// kernels; without those the whole trace is one.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "traces/profile/rank_profile.hpp"

namespace windtunnel {

// Calls of a kind and size on a group, in a step.
struct CapturedCall {
  CommunicationCall call;
  int count = 0;
  double seconds = 0;  // of all, waiting for other ranks included
};

struct CapturedStep {
  std::string name;
  double begin_s = 0;
  double end_s = 0;
  // When the host launched its work; of guessed steps when that began.
  double issued_from_s = 0;
  double issued_until_s = 0;
  double seconds() const { return end_s - begin_s; }
  // Of kernels by WorkKind; those that run at the same time count each.
  std::array<double, kWorkKinds> kind_s = {};
  // These four sum up to the step.
  double compute_s = 0;  // a kernel that computes runs, or several
  double exposed_s = 0;  // communication alone
  double copy_s = 0;     // copies alone, or beside communication
  double idle_s = 0;     // nothing
  double hidden_s = 0;   // communication beside compute or copies
  // Idle until a kernel that the host launched only then: its queue was empty.
  double host_bound_s = 0;
  int kernels = 0;
  std::vector<CapturedCall> calls = {};
};

struct CapturedRank {
  std::vector<CapturedStep> steps;
  bool annotated = false;  // the program says where steps begin
};

// At least one step. A step without work is left out.
CapturedRank captured_steps(const RankProfile& profile);

// Positions in RankProfile::work of the work that is the step's own.
std::vector<std::size_t> work_of(const RankProfile& profile, const CapturedRank& rank,
                                 const CapturedStep& step);

// [work] when the host turned to it, as far as that is known. A stream runs in the order of
// launches: work whose launch is not recorded is taken to be launched with what ran before it, and
// before all others (-infinity) where nothing did: the host had launched it before the capture
// began, as one does that runs ahead of its GPU. On a stream without any recorded launch work
// counts from its start.
std::vector<double> issue_times(const RankProfile& profile);

// Copies on streams on which nothing computes, such as those of the next batch, hold no kernel up.
void leave_out_side_copies(const RankProfile& profile, std::vector<std::size_t>& work);

// The one that took the median (of an even number the longer of both in the middle).
const CapturedStep& median_step(std::span<const CapturedStep> steps);

}  // namespace windtunnel
