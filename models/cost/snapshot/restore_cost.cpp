#include "models/cost/snapshot/restore_cost.hpp"

#include <algorithm>
#include <numeric>

#include "models/cost/snapshot/snapshot_cost.hpp"
#include "models/cost/snapshot/snapshot_writer.hpp"
#include "models/reliability/snapshot_place.hpp"

namespace windtunnel {
namespace {

// Times of the paths that the state of the fullest GPU, or of the job, can take.
class Ways {
 public:
  // `share`: the part of the state that crosses these paths.
  Ways(double share, const SnapshotTier& tier, const SavedState& state, const Layout& layout,
       const Cluster& cluster, const Calibration& calibration)
      : tier_(tier),
        place_(traits_of(tier)),
        layout_(layout),
        cluster_(cluster),
        calibration_(calibration) {
    of_gpu_ = share * state.fullest_bytes;
    of_node_ = of_gpu_ * cluster.node.gpus;
    of_job_ = share * state.all_bytes;
  }

  // Copies between GPU and host memory.
  double copy_s() const {
    const NodeSpec& node = cluster_.node;
    const double pcie_Bps = node.pcie_one_way_Bps() * calibration_.pcie_efficiency.value;
    return std::max({of_process_s(pcie_Bps), of_process_s(tier_.writer.copy_Bps), host_memory_s()});
  }
  double to_host_s() const {
    const double limit_Bps = tier_.copy_limit_Bps;
    return std::max(copy_s(), limit_Bps > 0 ? of_gpu_ / limit_Bps : 0);
  }
  double loaded_s() const { return std::max(of_process_s(tier_.writer.read_Bps), copy_s()); }
  double read_s(double place_s) const {
    return std::max(place_s, of_process_s(tier_.writer.read_Bps)) + copy_s();
  }
  double write_s(double place_s) const {
    return tier_.writer.start_s + std::max(place_s, of_process_s(tier_.writer.write_Bps));
  }
  double host_memory_s() const {
    return of_node_ /
           (cluster_.node.host_memory_Bps.value * calibration_.host_memory_efficiency.value);
  }
  // Transfers between host memory and the tier's place; `shared_Bps`: of a storage that nodes
  // share.
  double place_s(Parameter StorageSpec::*shared_Bps) const {
    if (!place_.way) return place_.copied ? host_memory_s() : 0;
    const double efficiency = calibration_.storage_efficiency.value;
    const Parameter& node_Bps = cluster_.node.*place_.way->node_Bps;
    const double node_s = of_node_ / (node_Bps.value * efficiency);
    const StorageSpec* storage = place_.storage(cluster_);
    if (storage == nullptr) return node_s;
    return std::max(of_job_ / (storage->left_of(storage->*shared_Bps) * efficiency), node_s);
  }
  double latency_s() const {
    const StorageSpec* storage = place_.storage(cluster_);
    return storage == nullptr ? 0 : storage->latency_s.value;
  }
  // Reads from storage the other data that every node needs, and the copy if it is there. `others`:
  // jobs that read at the same time.
  double startup_s(bool copy, double startup_bytes, const StorageStorm& others) const {
    const double efficiency = calibration_.storage_efficiency.value;
    const double all_Bps = cluster_.storage.left_of(cluster_.storage.read_Bps) * efficiency;
    const double node_Bps = cluster_.node.storage_nic_Bps.value * efficiency;
    const double of_all = (copy ? of_job_ : 0) + cluster_.nodes * startup_bytes;
    // All nodes are taken to hold equally much; the fullest may take longer on its own link.
    const double mean = of_all / cluster_.nodes;
    const double fullest_s = ((copy ? of_node_ : 0) + startup_bytes) / node_Bps;
    const auto rate = [&](double nodes) { return std::min(all_Bps / nodes, node_Bps); };
    const double shared_Bps = rate(cluster_.nodes + others.nodes);
    const double while_shared = std::min(mean, others.read_bytes);
    return std::max(while_shared / shared_Bps + (mean - while_shared) / rate(cluster_.nodes),
                    fullest_s);
  }
  // Moves `blocks` times what a node holds over its NICs.
  double network_s(double blocks) const {
    const NodeSpec& node = cluster_.node;
    const double nics_Bps = node.nics * node.nic_Bps.value * calibration_.nic_efficiency.value;
    return blocks * of_node_ / nics_Bps;
  }
  double decode_s(double bytes) const {
    const ErasureCode& code = tier_.code;
    if (code.name != CodeName::xor_parity && code.name != CodeName::reed_solomon) return 0;
    const NodeSpec& node = cluster_.node;
    const double rate_Bps = code.on_gpu ? node.gpus * gpu_encode_rate(code, node.gpu, calibration_)
                                        : code.cpu_cores * core_encode_rate(code).value;
    return bytes / rate_Bps;
  }
  double conversion_s() const {
    return place_s(&StorageSpec::read_Bps) + place_s(&StorageSpec::write_Bps);
  }
  // The whole shard that a GPU holds, of which a snapshot takes only the part that it has to save.
  double from_replica_s() const {
    return network_s(double(layout_.island_replicas()) / shard_ranks(layout_).optimizer);
  }
  double of_gpu() const { return of_gpu_; }
  double of_node() const { return of_node_; }

 private:
  double of_process_s(double rate_Bps) const {
    return rate_Bps > 0 ? of_gpu_ * writer_parts(tier_.writer, layout_) / rate_Bps : 0;
  }

  const SnapshotTier& tier_;
  const PlaceTraits& place_;
  const Layout& layout_;
  const Cluster& cluster_;
  const Calibration& calibration_;
  double of_gpu_ = 0;
  double of_node_ = 0;
  double of_job_ = 0;
};

}  // namespace

SavedState saved_state(const std::vector<double>& bytes_per_gpu, const Layout& layout) {
  const double ranks_per_stage = double(layout.tp) * layout.cp * layout.dp;
  return {std::ranges::max(bytes_per_gpu),
          ranks_per_stage * std::accumulate(bytes_per_gpu.begin(), bytes_per_gpu.end(), 0.0)};
}

double save_s(const SnapshotTier& tier, const SavedState& state, const Layout& layout,
              const Cluster& cluster, const Calibration& calibration) {
  const PlaceTraits& place = traits_of(tier);
  if (!place.copied) return 0;
  const Ways ways(moved_share(tier), tier, state, layout, cluster, calibration);
  if (!place.way) return ways.to_host_s();
  return ways.to_host_s() + ways.latency_s() + ways.write_s(ways.place_s(&StorageSpec::write_Bps));
}

double restore_s(const SnapshotTier& tier, const SavedState& state, const Layout& layout,
                 const Cluster& cluster, const Calibration& calibration) {
  const Ways ways(restored_share(tier), tier, state, layout, cluster, calibration);
  const PlaceTraits& place = traits_of(tier);
  if (!place.copied) return ways.from_replica_s();
  if (!place.way) return ways.loaded_s();
  return ways.latency_s() + ways.read_s(ways.place_s(&StorageSpec::read_Bps));
}

double rebuild_s(const SnapshotTier& tier, const SavedState& state, const Layout& layout,
                 const Cluster& cluster, const Calibration& calibration) {
  const ErasureCode& code = tier.code;
  const PlaceTraits& place = traits_of(tier);
  const Ways ways(restored_share(tier), tier, state, layout, cluster, calibration);
  const bool itself = !place.copied || code.name == CodeName::recompute;
  if (itself) return restore_s(tier, state, layout, cluster, calibration);
  if (code.parity == 0 || place.code == PlaceCode::none) return 0;
  if (code.in_node) {
    return ways.decode_s(code.data * ways.of_gpu()) + ways.loaded_s();
  }
  double gather_s = ways.network_s(std::max(code.data, code.parity));
  if (place.way) gather_s = std::max(gather_s, ways.place_s(&StorageSpec::read_Bps));
  return gather_s + ways.decode_s(code.data * ways.of_node()) + ways.loaded_s();
}

double reshape_s(const SnapshotTier& tier, const SavedState& state, const Layout& layout,
                 const Cluster& cluster, const Calibration& calibration) {
  const int shard = shard_ranks(layout).optimizer;
  const bool own = shard == 1 || shard < layout.island_replicas();
  return own ? 0 : convert_s(tier, state, layout, cluster, calibration);
}

double convert_s(const SnapshotTier& tier, const SavedState& state, const Layout& layout,
                 const Cluster& cluster, const Calibration& calibration) {
  if (tier.any_layout) return 0;
  return Ways(restored_share(tier), tier, state, layout, cluster, calibration).conversion_s();
}

StartupReads startup_reads(const SnapshotTier* tier, const SavedState& state, const Layout& layout,
                           const Cluster& cluster, const Calibration& calibration) {
  const StorageSpec& storage = cluster.storage;
  const bool copy = tier != nullptr && traits_of(*tier).storage(cluster) == &storage;
  if (storage.startup_bytes == 0 && (!copy || storage.storm.nodes == 0)) return {};
  const SnapshotTier none;
  const SnapshotTier& read = copy ? *tier : none;
  const Ways ways(restored_share(read), read, state, layout, cluster, calibration);
  const double copy_s = copy ? ways.startup_s(true, 0, {}) : 0;
  const double both_s = ways.startup_s(copy, storage.startup_bytes, {});
  const double latency_s = copy ? 0 : storage.latency_s.value;  // a copy's is in restore_s()
  return {latency_s + both_s - copy_s,
          ways.startup_s(copy, storage.startup_bytes, storage.storm) - both_s};
}

}  // namespace windtunnel
