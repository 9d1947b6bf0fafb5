// What an iteration took and where the time went: step time, throughput, MFU and HFU, bubbles,
// exposed communication and the critical path, derived from a Plan and its Timeline.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/calibration/prediction_error.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"
#include "models/plan/timeline.hpp"
#include "models/results/campaign_report.hpp"
#include "models/results/familiarity.hpp"

namespace windtunnel {

struct FillingReport;  // models/results/filling_report.hpp
struct InputReport;    // models/results/input_report.hpp

// Three definitions of the bubble from the literature (authors of schedules quote different ones),
// for the last reported iteration. Compute is forward, backward and recomputation, including their
// tp and cp collectives.
struct Bubble {
  double makespan_s = 0;  // step time - compute of the busiest rank (Megatron, GPipe)
  double longest_stage_s =
      0;  // longest last end - first start of a rank, minus the same compute (Zero Bubble)
  double idle = 0;  // mean share of the step in which none of a rank's own kernels run
};

// The steps of a run before its compressor starts, with dense gradients.
struct Warmup {
  double share = 0;   // of the run
  double step_s = 0;  // duration of one warm-up step
};
// Mean step time of a run whose other steps take `step_s`.
double run_step_s(const Warmup& warmup, double step_s);

// Exchanges at one level of Job::sync.
struct SyncReport {
  SyncSeconds seconds;    // of one exchange of a fragment
  double sent_bytes = 0;  // between islands, by the GPU that sends most, of all fragments
};

// How stragglers are tolerated (Job::redundancy).
struct StragglerReport {
  Estimate step_s;  // with stragglers
  // the step time if every step waited for the slowest worker, without redundant work
  double waiting_s = 0;
  double load = 1;      // work of a worker, divided by its part of the batch
  double passes_s = 0;  // additional step time because of the load
  // a worker's passes under the load and its optimizer: the time that stragglers lengthen
  double work_s = 0;
  double exchange_s = 0;      // for additional gradients of a step
  double waited_share = 0;    // share of the steps that waited for workers beyond the tolerance
  double missing = 0;         // workers that a step does not wait for, on average
  double gradient_share = 1;  // share of the batch that the gradient covers, on average
  int delay_steps = 0;        // until the gradient of a step is complete
};

struct IterationReport {
  // Period in steady state, after the warm-up. Includes the mean part of exchanges between islands.
  double time_s = 0;
  double tokens_per_s = 0;
  double tflops_per_gpu = 0;  // model FLOPs, Megatron's convention
  double mfu = 0;             // causal attention counted in full, Megatron's convention
  double mfu_causal = 0;      // causal attention counted in half, as a causal kernel computes it
  double hfu = 0;             // hardware FLOPs, recomputation counted; attention as in mfu
  double hfu_causal = 0;      // attention as in mfu_causal: what kernels execute
  Bubble bubble;
  // Uncertainty of time_s: from the calibration or from similar measured runs, and from the host.
  Parameter error;
  StepSpread host_spread;
  Familiarity familiarity;                            // similarity of the job to measured runs
  std::array<double, kCategories> critical_path_s{};  // by Category; sums to time_s
  OriginShares origin_s{};                            // time_s by origin
  std::vector<GpuMemory> memory;                      // per pipeline rank
  Warmup warmup;
  std::vector<SyncReport> sync;  // [level]
  double inner_step_s = 0;       // a step without an exchange
  // If the machine jitters: the step time over all draws. time_s is the mean; all other members
  // describe the draw nearest to the mean, scaled to it.
  std::optional<Estimate> drawn_s;
  // Index of the draw nearest to the mean; 0 if the machine does not jitter.
  int draw = 0;
  // The step of the recorded Timeline alone (iteration_s()), before draws, stragglers and exchanges
  // between islands make it time_s.
  double recorded_s = 0;
  std::optional<StragglerReport> stragglers;
  std::shared_ptr<const FillingReport> filling;  // null: nothing fills idle time (Job::filling)
  std::shared_ptr<const InputReport> input;      // null: no samples are loaded (Job::input)
};
// Whether MFU changes by more than 2 % when causal attention is counted in half.
bool counts_differ(const IterationReport& report);
// Adds the mean time of exchanges between islands.
void add_sync(IterationReport& report, const std::vector<SyncLevel>& levels,
              std::vector<SyncReport> sync);
// Adds the time of redundant work and of waiting.
void add_stragglers(IterationReport& report, const StragglerReport& stragglers);
// Replaces the step time of the jitter draw `draw` by the estimate over all draws.
void set_drawn(IterationReport& report, const Estimate& step_s, int draw);

struct PathStep {
  RankId rank = 0;
  std::int32_t rank_class = 0;
  TaskIndex task = 0;
  double start_s = 0;
  double end_s = 0;
};
// From the first task to the one that ends last (a snapshot in the background aside). The task
// before each one is the predecessor (dependency, stream, message, collective member) that ended
// last.
std::vector<PathStep> critical_path(const Plan& plan, const Timeline& timeline);

// The iterations of a Plan that are reported: those of steady_window(); 0 to 0 for one iteration.
SteadyWindow reported_window(const Job& job, const Plan& plan);
// From the end of the first reported iteration to the end of the last; all of the Plan if it has
// one.
Span reported_span(const Job& job, const Plan& plan, const Timeline& timeline);
// The period in steady state; with one iteration, its end.
double iteration_s(const Job& job, const Plan& plan, const Timeline& timeline);

// End of the last task of an iteration that is not a snapshot in the background.
double foreground_end_s(const Plan& plan, const Timeline& timeline, int iteration);
// Returns for each recorded rank the end of its own last such task.
std::vector<double> foreground_ends_s(const Plan& plan, const Timeline& timeline, int iteration);
// End of the last snapshot task: from then on the copy can be restored. 0: none was taken.
double snapshot_end_s(const Plan& plan, const Timeline& timeline);

// Mean share of `time_s` in which none of a rank's own kernels of the iteration run.
double idle_share(const Plan& plan, const Timeline& timeline, int iteration, double time_s);

// `hardware_flops`: of an iteration on all GPUs. `path` is
// critical_path(plan, timeline); with several iterations those of reported_window().
IterationReport iteration_report(const Job& job, const HardwareFlops& hardware_flops,
                                 const std::vector<GpuMemory>& memory, const Plan& plan,
                                 const Timeline& timeline, const std::vector<PathStep>& path);

}  // namespace windtunnel
