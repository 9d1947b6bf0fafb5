// What islands of replicas exchange when a level of synchronisation is due (models/plan/
// sync_level.hpp), by rank: the difference of its weights to those of the last exchange, made and
// compressed by kernels, summed with the ranks of equal place in the other islands, and taken in by
// the outer optimizer. The ranks of an island that hold the same parameters divide them among
// themselves, each exchanges its part, and then they gather the whole. By gossip an island's go to
// some others only; of a model of paths each block of layers goes to those who train the same
// module of it.
#pragma once

#include <vector>

#include "models/compression/recipe.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"
#include "policies/exchange/gradient_tensors.hpp"
#include "policies/exchange/shard_transfers.hpp"

namespace windtunnel {

// The axis of the groups of the level that is `level` steps above the islands.
ReplicaAxis sync_axis(int level);

class OuterExchange {
 public:
  // Keeps references. `chunks`: of the schedule's job, whole micro-batches.
  OuterExchange(const Job& job, const Schedule& schedule, const std::vector<ChunkCost>& chunks,
                const ReplicaNetwork& network);

  // One fragment of a level on a pipeline rank, in its order, each after the one before it.
  std::vector<Transfer> row(int level, int pp) const;
  // Bytes that a rank sends to others for a whole exchange of all fragments, by the count of
  // wire_bytes(); between islands only.
  double sent_bytes(int level, int pp) const;
  // What a rank keeps from exchange to exchange for its compressor: errors, factors.
  double state_bytes(int level, int pp) const;
  Origin origin(int level, int pp) const;  // of the times of its collectives

 private:
  struct Part;
  std::vector<Part> parts(int level, int pp) const;
  ReducingGroup group_of(const Part& part, int level) const;
  Recipe recipe_of(const Part& part, int level) const;
  void append(const Part& part, int level, int pp, std::vector<Transfer>& row) const;
  Transfer collective(int pp, ReplicaAxis axis, CollectiveKind kind, double bytes,
                      CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic) const;
  std::vector<Transfer> gossip(const Part& part, int level, int pp, double message_bytes) const;

  const Job& job_;
  const ReplicaNetwork& network_;
  std::vector<std::vector<std::vector<StageTensor>>> tensors_;  // [pipeline rank][block of layers]
};

}  // namespace windtunnel
