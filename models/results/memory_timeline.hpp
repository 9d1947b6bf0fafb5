// Memory that tasks of a rank allocate when they start and free when they end: activations, and
// data kept for weight gradients. Weights, gradients, optimizer state and buffers are constant and
// not included (memory.hpp).
#pragma once

#include <string>
#include <vector>

#include "models/plan/timeline.hpp"

namespace windtunnel {

struct MemoryStep {
  double at_s = 0;
  double alive_bytes = 0;  // allocated from at_s on
};

struct MemoryTimeline {
  std::vector<MemoryStep> steps;  // strictly ascending in time; empty: nothing is allocated
  double peak_bytes = 0;
  double peak_at_s = 0;
  TaskIndex peak_task = -1;  // the task at whose start the peak is first reached
};

// Where memory is allocated: on the GPU, or in the tiers outside it.
enum class MemoryPlace { gpu, tier };

// At equal times, what ends frees before what starts allocates, because tasks follow each other on
// a stream. The peak is searched from `from_s` on.
MemoryTimeline memory_timeline(const RankClass& rank_class, const RankTimeline& rank,
                               double from_s = 0, MemoryPlace place = MemoryPlace::gpu);

// The first recorded rank of each class; ranks of a class are alike. Result: indices into
// Timeline::ranks, ascending.
std::vector<int> rank_of_each_class(const Plan& plan, const Timeline& timeline);

// Where the memory peak of a rank is, in the words of reports.
struct ActivationPeak {
  std::string rank;  // "pp 0"
  std::string task;  // "F0.7"
  double at_s = 0;
  double bytes = 0;
};

// Looks at the first recorded rank of each class and leaves out classes that allocate nothing.
std::vector<ActivationPeak> activation_peaks(const Plan& plan, const Timeline& timeline);

}  // namespace windtunnel
