#include "models/restore_cost.hpp"

#include <algorithm>
#include <numeric>

namespace windtunnel {

double restore_s(const SnapshotTier& tier, const std::vector<double>& bytes_per_gpu,
                 const Layout& layout, const Cluster& cluster, const Calibration& calibration) {
  const double most = *std::ranges::max_element(bytes_per_gpu);
  const double pcie_s = most / (cluster.node.pcie_Bps.value * calibration.pcie_efficiency.value);
  if (tier.place == SnapshotPlace::host_memory) return pcie_s;
  const double ranks_per_stage = double(layout.tp) * layout.cp * layout.dp;
  const double all =
      std::accumulate(bytes_per_gpu.begin(), bytes_per_gpu.end(), 0.0) * ranks_per_stage;
  const double efficiency = calibration.storage_efficiency.value;
  const double storage_s = all / (cluster.storage.read_Bps * efficiency);
  const double nic_s = most * cluster.node.gpus / (cluster.node.storage_nic_Bps.value * efficiency);
  return cluster.storage.latency_s.value + std::max(storage_s, nic_s) + pcie_s;
}

}  // namespace windtunnel
