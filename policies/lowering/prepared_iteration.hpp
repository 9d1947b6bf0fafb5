// What is computed for a job before its Plan: its schedule, with costs and memory.
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
using SharedPacks = std::shared_ptr<const BalancedBatch>;

// Consecutive GPUs among the cp x dp of a pipeline rank. A tp group counts as one GPU.
struct MeetingGpus {
  int first = 0;
  int count = 1;
  auto operator<=>(const MeetingGpus&) const = default;
};

// What ranks that compute alike have in common. They are replicas on nodes of the same pools, or
// GPUs with the same packs of unequal sequences.
struct ReplicaCosts {
  std::string name;  // "replicas 0 to 3"
  // With packs these are all replicas, as if all were on the pools of these GPUs.
  ReplicaKind kind;
  Schedule schedule;
  std::vector<ChunkCost> chunks;  // [stage of the model] on the pools of `kind`
  std::vector<ChunkCost> units;
  std::vector<int> members;            // members of each pipeline rank, counted from its first rank
  std::vector<GpuMemory> memory = {};  // [pipeline rank]; empty: all nodes are alike

  // [unit] With packs only: the GPUs with which a GPU starts the unit's passes together, and the
  // number of samples that it loads for them.
  std::vector<std::vector<MeetingGpus>> meets = {};
  std::vector<double> samples = {};
  // Whether units are passes over packs of unequal sequences, with individual costs.
  bool packed() const { return !meets.empty(); }
};

// The schedule of a job, the cost of each pass and the memory of each pipeline rank. With sequences
// of unequal length (Job::lengths) one micro-batch represents all packs: its cost is the mean of
// their costs, and its memory that of the fullest pack. The packs themselves are in `balanced`.
struct PreparedIteration {
  // With Software::post_validation it has several iterations without a flush between them.
  Schedule schedule;
  std::vector<ChunkCost> chunks;                   // [stage of the model] per micro-batch
  std::vector<ChunkCost> units;                    // unit_costs()
  std::vector<double> peak_activation_bytes = {};  // [pipeline rank]
  std::vector<GpuMemory> memory = {};              // [pipeline rank]
  SharedPacks balanced = {};                       // if lengths are unequal
  SharedGeometry geometry = {};                    // of the job that was prepared
  // Empty: all ranks of a pipeline rank run alike. With pools, `schedule`, `chunks` and `units` are
  // those of the slowest kind. `memory` of each pipeline rank is that of the kind with the least
  // room on its GPUs, but host memory and drives are those of the kind that uses most of them.
  std::vector<ReplicaCosts> kinds = {};
};

// Returns a job's prepared iteration. Jobs with the same table of iterations (Case::table) are
// prepared once.
using Prepare = std::function<std::shared_ptr<const PreparedIteration>(const Job& job,
                                                                       const std::string& table)>;

// Prepares a job whose micro-batches all have one length. The caller has checked everything except
// whether the schedule fits. Throws Error if layout, batch and schedule cannot be combined.
// `geometry`: the job's, if it is already computed.
PreparedIteration prepare_microbatches(const Job& job, SharedGeometry geometry = nullptr);

// Returns ChunkCost::hardware_flops added up over an iteration and all GPUs.
HardwareFlops hardware_flops(const Job& job, const PreparedIteration& prepared);

// Updates the costs of `prepared` for another calibration of the same job. Keeps the order of
// actions and the memory, and does not repeat checks.
void reprice_microbatches(const Job& job, PreparedIteration& prepared);

// Lower bounds for any schedule of a job, with which a search skips jobs that cannot win.
struct LeastIteration {
  double step_s = 0;
  std::vector<GpuMemory> memory;  // [pipeline rank]
};
// Returns the kernels of the passes, divided evenly among ranks, and the memory of the training
// state and one micro-batch of each chunk. The job must be one of prepare_microbatches().
LeastIteration least_microbatches(const Job& job);

// Returns the memory on the pools of a kind. keep_tightest() stores the tighter of two in `memory`.
std::vector<GpuMemory> memory_of_kind(const Job& job, const ReplicaKind& kind,
                                      const PreparedIteration& own);
void keep_tightest(const Job& job, const std::vector<GpuMemory>& own,
                   std::vector<GpuMemory>& memory);

// Returns PreparedIteration::memory for another job with the same schedule, for example with fewer
// replicas. `prepared` must have all other members.
std::vector<GpuMemory> iteration_memory(const Job& job, const PreparedIteration& prepared);

}  // namespace windtunnel
