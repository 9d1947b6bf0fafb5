// The tasks of one pipeline rank: its schedule lowered to computes, sends and receives, the gathers
// and reductions of data parallelism beside them (data_parallel.hpp), the optimizer and the
// snapshots that are due.
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

// What all pipeline ranks of an iteration share, or those of some of its replicas.
struct IterationContext {
  // Keeps references. `data_parallel`: of this schedule, or of another with the same stages.
  IterationContext(const Job& job, const Schedule& schedule, const std::vector<ChunkCost>& chunks,
                   const std::vector<ChunkCost>& units, const IterationPlanOptions& options,
                   const DataParallel& data_parallel, const Members& members);

  // As unit_rounds() has them: of the collectives in `which` tasks are made. Keeps a reference.
  void take_apart(const std::vector<ChunkRounds>& rounds, InnerTasks which) {
    steps.emplace(schedule, costs, rounds, which);
  }

  const Job& job;
  const Schedule& schedule;
  const IterationPlanOptions& options;
  const ActionCosts costs;
  std::optional<ActionSteps> steps;  // where collectives inside a replica are tasks
  const DataParallel& data_parallel;
  const std::vector<GradientPartner> partners;  // [pipeline rank]
  const std::vector<IterationMarks> marks;      // [iteration of the schedule]
  const std::vector<double> snapshot_bytes;     // [pipeline rank], per GPU
  std::vector<std::vector<Transfer>> outer;     // [pipeline rank] of options.outer
  std::optional<InputLoad> input;               // empty: samples are there
  const Members members;                        // of every pipeline rank
  std::string name;                   // ReplicaCosts::name; empty: all ranks of a pipeline rank
  std::vector<int> pools;             // [pipeline rank] whose nodes they are; empty: all are alike
  std::vector<MeetingGpus> meetings;  // the entries of ReplicaCosts::meets, each once
  // [unit] what its passes wait for, indices into PipelineRankGroups::rendezvous; empty: none.
  std::vector<std::vector<int>> rendezvous;
  // Every pass begins with those of all others in the rank's gang, PipelineRankGroups::rendezvous'
  // first.
  bool gang = false;
};

RankClass pipeline_rank(const IterationContext& context, int rank, PipelineRankGroups groups,
                        GroupsAlone& alone, const CollectiveCosts& costs);

}  // namespace windtunnel
