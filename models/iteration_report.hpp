// What an iteration took and where the time went.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "models/job.hpp"
#include "models/memory.hpp"
#include "models/timeline.hpp"

namespace windtunnel {

// The three bubbles in print, absolute seconds (schedules differ by which they quote).
struct Bubble {
  double makespan_s = 0;  // makespan - busiest rank's compute (Megatron, GPipe)
  double longest_stage_s =
      0;            // longest (last end - first start) of a rank - its compute (Zero Bubble)
  double idle = 0;  // mean share of the makespan in which a rank computes nothing
};

struct IterationReport {
  double time_s = 0;  // period of the steady state
  double tokens_per_s = 0;
  double tflops_per_gpu = 0;  // model FLOPs, Megatron's convention
  double mfu = 0;
  double hfu = 0;  // hardware FLOPs, recomputation counted
  Bubble bubble;
  std::array<double, kCategories> critical_path_s{};  // by Category; sums to time_s
  OriginShares origin_s{};                            // the same seconds by origin; sums to time_s
  std::vector<GpuMemory> memory;                      // per pipeline rank
};

// Walks the critical path backwards from the last task to end: from each task to the predecessor
// (dependency, stream, message, collective member) that ended last.
struct PathStep {
  RankId rank = 0;
  std::int32_t rank_class = 0;
  TaskIndex task = 0;
  double start_s = 0;
  double end_s = 0;
};
std::vector<PathStep> critical_path(const Plan& plan, const Timeline& timeline);

// End of the last task of an iteration that is not a snapshot in the background.
double foreground_end_s(const Plan& plan, const Timeline& timeline, int iteration);
// End of the last snapshot task: from then on the copy can be restored. 0: none was taken.
double snapshot_end_s(const Plan& plan, const Timeline& timeline);

// `path` is critical_path(plan, timeline); with several iterations the last one is reported.
IterationReport iteration_report(const Job& job, const std::vector<ChunkCost>& chunks,
                                 const std::vector<GpuMemory>& memory, const Plan& plan,
                                 const Timeline& timeline, const std::vector<PathStep>& path);

}  // namespace windtunnel
