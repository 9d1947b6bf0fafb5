// The tasks of one pipeline rank: its schedule as computes, sends and receives, the overlapping
// gathers and reductions of data parallelism (data_parallel.hpp), the optimizer and due snapshots.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "models/plan/plan.hpp"
#include "models/plan/schedule.hpp"
#include "policies/evaluation/schedule_stages.hpp"
#include "policies/exchange/data_parallel.hpp"
#include "policies/exchange/gradient_partners.hpp"
#include "policies/lowering/action_cost.hpp"
#include "policies/lowering/action_steps.hpp"
#include "policies/lowering/iteration_plan.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "policies/tasks/input_load.hpp"
#include "policies/tasks/rank_tasks.hpp"

namespace windtunnel {

// All pipeline ranks of an iteration, or of some of its replicas, share these data.
struct IterationContext {
  // Keeps references. `data_parallel`: for this schedule, or for another with the same stages.
  IterationContext(const Job& job, const Schedule& schedule, const std::vector<ChunkCost>& chunks,
                   const std::vector<ChunkCost>& units, const IterationPlanOptions& options,
                   const DataParallel& data_parallel, const Members& members);

  // Makes tasks of the collectives in `which`. Keeps a reference to `rounds`: unit_rounds().
  void take_apart(const std::vector<ChunkRounds>& rounds, InnerTasks which) {
    steps.emplace(schedule, costs, rounds, which);
  }

  const Job& job;
  const Schedule& schedule;
  const IterationPlanOptions& options;
  const ActionCosts costs;
  std::optional<ActionSteps> steps;  // empty: collectives inside a replica are no tasks
  const DataParallel& data_parallel;
  const std::vector<GradientPartner> partners;  // [pipeline rank]
  const std::vector<IterationMarks> marks;      // [iteration of the schedule]
  const std::vector<double> snapshot_bytes;     // [pipeline rank] bytes on each GPU
  std::vector<std::vector<Transfer>> outer;     // [pipeline rank] transfers of options.outer
  std::optional<InputLoad> input;               // empty: samples are always ready
  const Members members;                        // its ranks in every pipeline rank
  std::string name;                   // ReplicaCosts::name; empty: all ranks of a pipeline rank
  std::vector<int> pools;             // [pipeline rank] pool of its nodes; empty: all are alike
  std::vector<MeetingGpus> meetings;  // distinct entries of ReplicaCosts::meets
  // [unit] the groups with which its passes begin together, as indices into
  // PipelineRankGroups::rendezvous; empty: none.
  std::vector<std::vector<int>> rendezvous;
  // Every pass starts together with those of all other ranks in the gang, which is the first entry
  // of PipelineRankGroups::rendezvous.
  bool gang = false;
};

// `about`: number of tasks of another rank; this one may have as many.
RankClass pipeline_rank(const IterationContext& context, int rank, PipelineRankGroups groups,
                        GroupsAlone& alone, const CollectiveCosts& costs, std::size_t about);

}  // namespace windtunnel
