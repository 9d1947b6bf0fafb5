// Placement of a job's ranks on its machine: the shapes of its groups and the paths of its
// messages. It is computed once and shared by everything that prepares, lowers or estimates an
// iteration. It depends only on layout, cluster and the axes along which gradients are reduced, so
// jobs with other schedules, batches or costs can share it.
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

  // Whether this geometry is valid for the job.
  bool is_of(const Job& job) const;

  const LinkTable& links() const { return links_; }
  const ReplicaNetwork& network() const { return network_; }
  // All GPUs form this one group: world_shape().
  const GroupShape& world() const { return world_; }
  // Messages between the ranks of two stages take this path: message_way().
  MessageWay way(int from_pp, int to_pp) const;
  // Groups of a rank of the first stage with one of the last stage, which sum the gradients of tied
  // embeddings. Empty for models with untied embeddings.
  const std::optional<GroupShape>& ends() const { return ends_; }

 private:
  const Layout layout_;
  const Cluster cluster_;
  const LinkTable links_;  // of cluster_
  const ReplicaNetwork network_;
  const GroupShape world_;
  const std::optional<GroupShape> ends_;
  std::vector<MessageWay> up_;    // [pipeline rank] to the next one, from the last to the first
  std::vector<MessageWay> down_;  // [pipeline rank] to the previous one
};

using SharedGeometry = std::shared_ptr<const JobGeometry>;

// Returns `known` if it is valid for the job, otherwise a new one.
SharedGeometry geometry_of(const Job& job, SharedGeometry known = nullptr);

}  // namespace windtunnel
