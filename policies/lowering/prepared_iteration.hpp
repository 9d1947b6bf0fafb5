// What is known of a job before anything runs: its schedule, and what that costs and occupies.
// policies/iteration.hpp prepares any job.
#pragma once

#include <compare>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"
#include "policies/exchange/job_geometry.hpp"
#include "policies/shares/replica_kind.hpp"

namespace windtunnel {

struct BalancedBatch;

// GPUs of the cp x dp of a pipeline rank that stand behind each other; those of tp together count
// as one.
struct MeetingGpus {
  int first = 0;
  int count = 1;
  auto operator<=>(const MeetingGpus&) const = default;
};

// What ranks run that compute alike: the replicas on nodes of the same pools, or the GPUs with the
// same packs of unequal sequences.
struct ReplicaCosts {
  std::string name;  // "replicas 0 to 3"
  // Packs: all replicas, as if all stood on the pools of these GPUs.
  ReplicaKind kind;
  Schedule schedule;
  std::vector<ChunkCost> chunks;  // [stage of the model] on the pools of `kind`
  std::vector<ChunkCost> units;
  std::vector<int> members;            // of each pipeline rank, counted from its first one
  std::vector<GpuMemory> memory = {};  // [pipeline rank]; empty where all nodes are alike

  // Packs only, [unit]: the GPUs that a GPU starts its passes together with, and the samples that
  // it loads for the pass.
  std::vector<std::vector<MeetingGpus>> meets = {};
  std::vector<double> samples = {};
  // Whether each unit is a pass over a pack of unequal sequences, with costs of its own.
  bool packed() const { return !meets.empty(); }
};

// The schedule of a job, what each pass of it costs and what each pipeline rank holds. Of sequences
// of unequal length (Job::lengths) one micro-batch stands for all packs: its cost is their mean,
// its memory that of the fullest; the packs themselves are `balanced`.
struct PreparedIteration {
  // Under Software::post_validation several iterations of it without a flush between them.
  Schedule schedule;
  std::vector<ChunkCost> chunks;                       // [stage of the model] per micro-batch
  std::vector<ChunkCost> units;                        // unit_costs()
  std::vector<double> peak_activation_bytes = {};      // [pipeline rank]
  std::vector<GpuMemory> memory = {};                  // [pipeline rank]
  std::shared_ptr<const BalancedBatch> balanced = {};  // where lengths are unequal
  SharedGeometry geometry = {};                        // of the job that was prepared
  // Empty: all ranks of a pipeline rank run alike. Where there are pools, `schedule`, `chunks` and
  // `units` are those of the kind that takes longest, and `memory` of each pipeline rank is that of
  // the kind with the least room on its GPUs. What it has in the host's memory and on the drives is
  // that of the kind with the most there.
  std::vector<ReplicaCosts> kinds = {};
};

// Gives a job's iteration: of many jobs, those that share a table of iterations (Case::table) are
// prepared once.
using Prepare = std::function<std::shared_ptr<const PreparedIteration>(const Job& job,
                                                                       const std::string& table)>;

// Prepares a job whose micro-batches all have one length. The caller has checked everything except
// that the schedule fits; throws Error if layout, batch and schedule do not go together.
// `geometry`: the job's, if it is known.
PreparedIteration prepare_microbatches(const Job& job, SharedGeometry geometry = nullptr);

// ChunkCost::hardware_flops of an iteration, of all GPUs.
HardwareFlops hardware_flops(const Job& job, const PreparedIteration& prepared);

// Costs of `prepared` as another calibration of the same job has them. The order of the actions,
// their memory and what was checked of them stay.
void reprice_microbatches(const Job& job, PreparedIteration& prepared);

// What no schedule of a job goes below: for a search that passes over what cannot win.
struct LeastIteration {
  double step_s = 0;
  std::vector<GpuMemory> memory;  // [pipeline rank]
};
// Kernels of the passes, spread evenly over the ranks; one micro-batch of each chunk beside the
// training state. Of a job as prepare_microbatches() takes it.
LeastIteration least_microbatches(const Job& job);

// Memory on the pools that a kind stands on; keep_tightest() puts the tighter of two into `memory`.
std::vector<GpuMemory> memory_of_kind(const Job& job, const ReplicaKind& kind,
                                      const PreparedIteration& own);
void keep_tightest(const Job& job, const std::vector<GpuMemory>& own,
                   std::vector<GpuMemory>& memory);

// PreparedIteration::memory, of another job under the same schedule: with fewer replicas.
// `prepared` has all but that.
std::vector<GpuMemory> iteration_memory(const Job& job, const PreparedIteration& prepared);

}  // namespace windtunnel
