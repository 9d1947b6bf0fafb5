// What islands of replicas exchange when a level of synchronisation is due
// (models/plan/sync_level.hpp), by rank. Kernels compute the difference of the weights from those
// at the last exchange, and compress it. The difference is summed with the corresponding ranks of
// the other islands, and the outer optimizer applies the sum. Ranks of an island with the same
// parameters divide these: each exchanges its part, and then they gather the whole. With gossip an
// island sends only to some of the others. In a model of paths each block of layers goes to the
// islands that train the same module.
#pragma once

#include <vector>

#include "models/compression/recipe.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"
#include "policies/exchange/gradient_tensors.hpp"
#include "policies/exchange/shard_transfers.hpp"

namespace windtunnel {

// Returns the axis of the groups at the level that is `level` steps above the islands.
ReplicaAxis sync_axis(int level);

class OuterExchange {
 public:
  // Keeps references. `chunks`: of whole micro-batches, for the schedule's job.
  OuterExchange(const Job& job, const Schedule& schedule, const std::vector<ChunkCost>& chunks,
                const ReplicaNetwork& network);

  // Returns the transfers of one fragment of a level on a pipeline rank, in sequence.
  std::vector<Transfer> row(int level, int pp) const;
  // Returns the bytes that a rank sends to other islands for a complete exchange of all fragments,
  // counted as in wire_bytes().
  double sent_bytes(int level, int pp) const;
  // Returns the compressor state that a rank keeps between exchanges: errors, low-rank factors.
  double state_bytes(int level, int pp) const;
  Origin origin(int level, int pp) const;  // of the times of the level's collectives

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
