// How the ranks of a job lie on its machine: the shapes of its groups and the ways of its messages,
// measured once and handed to whoever prepares, lowers or estimates an iteration. It follows from
// layout and cluster, and from which axes gradients take: jobs that differ in their schedule, their
// batch or what things cost share it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "models/machine/links/links.hpp"
#include "models/plan/job.hpp"
#include "policies/exchange/replica_groups.hpp"
#include "policies/exchange/shard_transfers.hpp"

namespace windtunnel {

class JobGeometry {
 public:
  explicit JobGeometry(const Job& job);
  JobGeometry(const JobGeometry&) = delete;
  JobGeometry& operator=(const JobGeometry&) = delete;

  // Whether it would come out the same for the job.
  bool is_of(const Job& job) const;

  const LinkTable& links() const { return links_; }
  const ReplicaNetwork& network() const { return network_; }
  // All GPUs in one group: world_shape().
  const GroupShape& world() const { return world_; }
  // Between the ranks of two stages: message_way().
  MessageWay way(int from_pp, int to_pp) const;
  // The groups of the first stage's ranks with those of the last, which sum the gradients of tied
  // embeddings. Not measured for other models.
  const std::optional<GroupShape>& ends() const { return ends_; }

 private:
  const Layout layout_;
  const Cluster cluster_;
  const LinkTable links_;  // of cluster_
  const ReplicaNetwork network_;
  const GroupShape world_;
  const std::optional<GroupShape> ends_;
  std::vector<MessageWay> up_;    // [pipeline rank] to the next one, the last one to the first
  std::vector<MessageWay> down_;  // the same to the stage before
};

using SharedGeometry = std::shared_ptr<const JobGeometry>;

// `known` if it is of the job, otherwise a new one.
SharedGeometry geometry_of(const Job& job, SharedGeometry known = nullptr);

}  // namespace windtunnel
