#include <algorithm>

#include "models/reliability/snapshot_place.hpp"
#include "tests/validate/harness/drill/drill.hpp"

namespace windtunnel {
namespace {

constexpr double kNoLimit = 1e3;  // times as fast as the fastest link

Parameter stated(double value) {
  return {value, value, value, Origin::assumed, "of the drill"};
}

}  // namespace

bool Drill::completes(int tier, std::int64_t iteration) const {
  const SnapshotTier& of = tiers[static_cast<std::size_t>(tier)];
  if (iteration > iterations || !saves_after(of, iteration)) return false;
  if (tier == interrupted_tier && iteration == iterations) return false;
  const bool full = full_disk_from > 0 && iteration >= full_disk_from;
  return !(full && traits_of(of).on_own_drives());
}

Cluster drill_cluster(const Drill& drill) {
  const auto state = static_cast<double>(drill.state_bytes);
  const DrillPace& pace = drill.pace;
  Cluster cluster;
  cluster.nodes = drill.nodes;
  NodeSpec& node = cluster.node;
  node.name = "drilled";
  node.gpus = 1;
  node.nics = 1;
  node.gpu.sms = stated(1);
  node.pcie_Bps = stated(state / pace.gpu_s);
  node.nic_Bps = stated(state / pace.network_s);
  node.local_disk_Bps = stated(state / pace.disk_s);
  cluster.storage.read_Bps = stated(drill.nodes * state / pace.storage_s);
  cluster.storage.write_Bps = cluster.storage.read_Bps;
  cluster.storage.latency_s = stated(pace.storage_latency_s);
  const double fast_Bps =
      kNoLimit * std::max({node.pcie_Bps.value, node.nic_Bps.value, node.local_disk_Bps.value,
                           cluster.storage.read_Bps.value});
  node.gpu.memory_Bps = node.nvlink_Bps = node.host_memory_Bps = stated(fast_Bps);
  node.storage_nic_Bps = stated(fast_Bps);
  node.cpu_cores = stated(1);
  return cluster;
}

Calibration drill_calibration() {
  Calibration calibration;
  for (Parameter Calibration::*efficiency :
       {&Calibration::pcie_efficiency, &Calibration::nic_efficiency,
        &Calibration::host_memory_efficiency, &Calibration::storage_efficiency}) {
    calibration.*efficiency = stated(1);
  }
  return calibration;
}

LoadTime load_time(const Drill& drill, const SnapshotTier& tier) {
  const auto state = static_cast<double>(drill.state_bytes);
  const SavedState saved = {state, drill.nodes * state};
  Layout layout;
  layout.dp = drill.nodes;
  const Cluster cluster = drill_cluster(drill);
  const Calibration calibration = drill_calibration();
  return {restore_s(tier, saved, layout, cluster, calibration),
          rebuild_s(tier, saved, layout, cluster, calibration)};
}

}  // namespace windtunnel
