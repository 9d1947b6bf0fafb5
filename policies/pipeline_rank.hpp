// The tasks of one pipeline rank: its schedule lowered to computes, sends and receives, the gathers
// and reductions of data parallelism beside them (data_parallel.hpp), the optimizer and the
// snapshots that are due.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/chunk_cost.hpp"
#include "models/job.hpp"
#include "models/plan.hpp"
#include "models/schedule.hpp"
#include "policies/data_parallel.hpp"
#include "policies/iteration_plan.hpp"

namespace windtunnel {

// What all pipeline ranks of an iteration share.
struct IterationContext {
  IterationContext(const Job& job, const Schedule& schedule, const std::vector<ChunkCost>& chunks,
                   const IterationPlanOptions& options);

  // Ranks of pipeline rank `pp` are contiguous (Megatron's order tp-cp-dp-pp).
  RankId rank(int pp, int member) const { return pp * members + member; }

  const Job& job;
  const Schedule& schedule;
  const std::vector<ChunkCost>& chunks;
  const IterationPlanOptions& options;
  const DataParallel data_parallel;
  const std::vector<double> snapshot_bytes;  // [pipeline rank], per GPU
  const int members;                         // ranks of one pipeline rank
};

// A communicator of the rank's members: which instance each is in, and what they have in common.
struct GroupSlot {
  std::vector<std::int32_t> instance_of_member;  // index into Plan::groups
  GroupShape shape;
  std::vector<std::int32_t> first_gpus;  // of the first member's group
};

struct PipelineRankGroups {
  std::array<std::optional<GroupSlot>, kReplicaAxes> replicas;  // hold the same parameters
  std::optional<GroupSlot> embedding;  // first and last stage, which tie their embeddings
  std::optional<GroupSlot> world;
};

RankClass pipeline_rank(const IterationContext& context, int rank, PipelineRankGroups groups);

}  // namespace windtunnel
