#include "policies/shard_transfers.hpp"

#include "models/job_collective.hpp"
#include "models/memory.hpp"

namespace windtunnel {
namespace {

// Appends to the transfers of one pipeline rank.
class Row {
 public:
  Row(const Job& job, const ReplicaNetwork& network, int pp, std::vector<Transfer>& to)
      : job_(job), network_(network), pp_(pp), to_(to) {}

  void add(ReplicaAxis axis, CollectiveKind kind, double bytes) const {
    if (bytes <= 0 || network_.lattice(axis).count == 1) return;
    const CollectiveCost cost = collective_cost(job_, kind, network_.shape(pp_, axis), bytes);
    to_.push_back({axis, kind, bytes, cost.seconds});
  }

 private:
  const Job& job_;
  const ReplicaNetwork& network_;
  const int pp_;
  std::vector<Transfer>& to_;
};

}  // namespace

double seconds_of(const std::vector<Transfer>& transfers) {
  double seconds = 0;
  for (const Transfer& transfer : transfers) seconds += transfer.seconds;
  return seconds;
}

double reduce_bytes_per_parameter(const Job& job) {
  return is_mixed(job.precision) ? job.software.reduce_bytes : 4;
}

ReplicaNetwork::ReplicaNetwork(const Job& job) : shape_(job.layout.pp) {
  const int members = job.layout.ranks() / job.layout.pp;
  const bool hierarchical = job.communication.compressor.name != "none";
  for (int a = 0; a < kReplicaAxes; ++a) {
    const auto axis = static_cast<ReplicaAxis>(a);
    const bool experts = axis == ReplicaAxis::expert_shard || axis == ReplicaAxis::expert_across;
    if (experts && job.model.moe_layers() == 0) continue;
    lattice_[a] = replica_groups(job.layout, axis, job.cluster.node.gpus);
    if (lattice_[a].count == 1) continue;
    const bool split = axis == ReplicaAxis::node_part || axis == ReplicaAxis::node_peers;
    if (!split) active_ = true;
    uses_[a] = !split || hierarchical;
    if (!uses_[a]) continue;
    for (int pp = 0; pp < job.layout.pp; ++pp) {
      shape_[pp][a] = lattice_shape(lattice_[a], pp * members, job.cluster);
    }
  }
}

Origin ReplicaNetwork::origin(const Job& job, int pp) const {
  const auto origin_of = [&](const GroupShape& shape) {
    return collective_cost(CollectiveKind::all_gather, {}, shape, 1e6, job.cluster, job.calibration)
        .origin;
  };
  if (!active_) return origin_of(world_shape(job.cluster));
  auto weak = Origin::measured;
  for (int a = 0; a < kReplicaAxes; ++a) {
    if (uses_[a]) weak = weakest(weak, origin_of(shape_[pp][a]));
  }
  return weak;
}

void append_gathers(const Job& job, const ReplicaNetwork& network, int pp, const Amount& amount,
                    std::vector<Transfer>& to) {
  const double bytes = weight_bytes_per_parameter(job);
  const Row row(job, network, pp, to);
  row.add(ReplicaAxis::dense_shard, CollectiveKind::all_gather, bytes * amount.dense);
  row.add(ReplicaAxis::expert_shard, CollectiveKind::all_gather, bytes * amount.experts);
}

void append_reductions(const Job& job, const ReplicaNetwork& network, int pp, const Amount& amount,
                       std::vector<Transfer>& to) {
  const double bytes = reduce_bytes_per_parameter(job);
  const Row row(job, network, pp, to);
  const auto reduce = [&](ReplicaAxis shard, ReplicaAxis across, double parameters) {
    row.add(shard, CollectiveKind::reduce_scatter, bytes * parameters);
    row.add(across, CollectiveKind::all_reduce, bytes * parameters / network.lattice(shard).count);
  };
  reduce(ReplicaAxis::dense_shard, ReplicaAxis::dense_across, amount.dense);
  reduce(ReplicaAxis::expert_shard, ReplicaAxis::expert_across, amount.experts);
}

}  // namespace windtunnel
