// Splits the steps of a captured rank into kernels by class, communication (overlapped and
// exposed), and idle time of the GPU, including the part that waits for the host.
//
// A step is the work that the host launches between two annotations ("ProfilerStep#"). It lasts
// from the start of its first kernel to the start of the next step's first kernel: the host runs
// ahead of the GPU, so its annotations end too early. Without annotations a step ends after each
// run of the optimizer's kernels; without such kernels the whole trace is one step.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "traces/profile/rank_profile.hpp"

namespace windtunnel {

// These are the calls of one step that agree in kind, size and group.
struct CapturedCall {
  CommunicationCall call;
  int count = 0;
  double seconds = 0;  // total, including waits for other ranks
};

struct CapturedStep {
  std::string name;
  double begin_s = 0;
  double end_s = 0;
  // When the host launched the step's work; for a guessed step, when the work began.
  double issued_from_s = 0;
  double issued_until_s = 0;
  double seconds() const { return end_s - begin_s; }
  // Kernels by WorkKind; concurrent kernels all count.
  std::array<double, kWorkKinds> kind_s = {};
  // The next four add up to the step.
  double compute_s = 0;  // at least one compute kernel runs
  double exposed_s = 0;  // only communication
  double copy_s = 0;     // copies, and possibly communication
  double idle_s = 0;     // nothing runs
  double hidden_s = 0;   // communication while compute or copies run
  // Idle time before a kernel that the host launched too late: the GPU's queue was empty.
  double host_bound_s = 0;
  int kernels = 0;
  std::vector<CapturedCall> calls = {};
};

struct CapturedRank {
  std::vector<CapturedStep> steps;
  bool annotated = false;  // the program marks the steps
};

// Returns at least one step. Steps without work are left out.
CapturedRank captured_steps(const RankProfile& profile);

// Returns the step's work, as indices into RankProfile::work.
std::vector<std::size_t> work_of(const RankProfile& profile, const CapturedRank& rank,
                                 const CapturedStep& step);

// Returns when the host launched each item of work, as far as this is known. A stream runs in the
// order of launches. Work without a recorded launch is taken to be launched with the work before it
// on its stream. If there is none, it gets -infinity, because a host that runs ahead had launched
// it before the capture. On a stream without any recorded launch, work counts from its start.
std::vector<double> issue_times(const RankProfile& profile);

// Removes copies on streams without compute, such as copies of the next batch: they delay no
// kernel.
void leave_out_side_copies(const RankProfile& profile, std::vector<std::size_t>& work);

// Returns the step with the median time; for an even count, the longer of the middle two.
const CapturedStep& median_step(std::span<const CapturedStep> steps);

}  // namespace windtunnel
