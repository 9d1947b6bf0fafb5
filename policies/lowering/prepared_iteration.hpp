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

// Consecutive GPUs among the cp x dp of a pipeline rank; a tp group counts as one.
struct MeetingGpus {
  int first = 0;
  int count = 1;
  auto operator<=>(const MeetingGpus&) const = default;
};

// Common data of ranks that compute alike: replicas on nodes of the same pools, or GPUs with the
// same packs of unequal sequences.
struct ReplicaCosts {
  std::string name;  // "replicas 0 to 3"
  // With packs these are all replicas, as if all were on the pools of these GPUs.
  ReplicaKind kind;
  Schedule schedule;
  std::vector<ChunkCost> chunks;  // [stage of the model] on the pools of `kind`
  std::vector<ChunkCost> units;
  std::vector<int> members;            // of each pipeline rank, counted from its first rank
  std::vector<GpuMemory> memory = {};  // [pipeline rank]; empty: all nodes are alike

  // Packs only, [unit]: the GPUs with which a GPU starts its passes together, and the samples that
  // it loads for the pass.
  std::vector<std::vector<MeetingGpus>> meets = {};
  std::vector<double> samples = {};
  // Whether units are passes over packs of unequal sequences, with individual costs.
  bool packed() const { return !meets.empty(); }
};

// The schedule of a job, the cost of each pass and the memory of each pipeline rank. With sequences
// of unequal length (Job::lengths) one micro-batch represents all packs: its cost is their mean,
// its memory that of the fullest; the packs themselves are in `balanced`.
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
  // those of the slowest kind, and `memory` of each pipeline rank is that of the kind with the
  // least room on its GPUs; its host memory and drives are those of the kind that uses most of
  // them.
  std::vector<ReplicaCosts> kinds = {};
};

// Returns a job's prepared iteration. Jobs that share a table of iterations (Case::table) are
// prepared once.
using Prepare = std::function<std::shared_ptr<const PreparedIteration>(const Job& job,
                                                                       const std::string& table)>;

// Prepares a job whose micro-batches all have one length. The caller has checked everything except
// that the schedule fits; throws Error if layout, batch and schedule cannot be combined.
// `geometry`: of the job, if already computed.
PreparedIteration prepare_microbatches(const Job& job, SharedGeometry geometry = nullptr);

// Adds ChunkCost::hardware_flops of an iteration over all GPUs.
HardwareFlops hardware_flops(const Job& job, const PreparedIteration& prepared);

// Updates the costs of `prepared` for another calibration of the same job. The order of actions and
// the memory are kept, and checks are not repeated.
void reprice_microbatches(const Job& job, PreparedIteration& prepared);

// Lower bounds for any schedule of a job: lets a search skip jobs that cannot win.
struct LeastIteration {
  double step_s = 0;
  std::vector<GpuMemory> memory;  // [pipeline rank]
};
// Kernels of the passes, divided evenly among ranks; memory of the training state and one
// micro-batch of each chunk. For jobs of prepare_microbatches().
LeastIteration least_microbatches(const Job& job);

// Memory on the pools of a kind; keep_tightest() stores the tighter of two in `memory`.
std::vector<GpuMemory> memory_of_kind(const Job& job, const ReplicaKind& kind,
                                      const PreparedIteration& own);
void keep_tightest(const Job& job, const std::vector<GpuMemory>& own,
                   std::vector<GpuMemory>& memory);

// PreparedIteration::memory for another job with the same schedule, for example with fewer
// replicas. `prepared` has everything else.
std::vector<GpuMemory> iteration_memory(const Job& job, const PreparedIteration& prepared);

}  // namespace windtunnel
