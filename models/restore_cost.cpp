#include "models/restore_cost.hpp"

#include <algorithm>
#include <numeric>

namespace windtunnel {

double restore_s(const SnapshotTier& tier, const std::vector<double>& bytes_per_gpu,
                 const Layout& layout, const Cluster& cluster, const Calibration& calibration) {
  const double most = *std::ranges::max_element(bytes_per_gpu);
  const NodeSpec& node = cluster.node;
  const double pcie_s = most / (node.pcie_Bps.value * calibration.pcie_efficiency.value);
  const double host_s =
      most * node.gpus / (node.host_memory_Bps.value * calibration.host_memory_efficiency.value);
  const double to_gpu_s = std::max(pcie_s, host_s);
  if (tier.place == SnapshotPlace::host_memory) return to_gpu_s;
  const double ranks_per_stage = double(layout.tp) * layout.cp * layout.dp;
  const double all =
      std::accumulate(bytes_per_gpu.begin(), bytes_per_gpu.end(), 0.0) * ranks_per_stage;
  const double efficiency = calibration.storage_efficiency.value;
  const double storage_s = all / (cluster.storage.read_Bps.value * efficiency);
  const double nic_s = most * node.gpus / (node.storage_nic_Bps.value * efficiency);
  return cluster.storage.latency_s.value + std::max(storage_s, nic_s) + to_gpu_s;
}

}  // namespace windtunnel
