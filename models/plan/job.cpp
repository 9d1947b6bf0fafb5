#include "models/plan/job.hpp"

namespace windtunnel {

DEFINE_SPECIAL_MEMBERS(Job);

double price_usd_per_s(const Job& job) {
  const Cluster& cluster = job.cluster;
  const double spares = job.recovery.spares;
  if (cluster.pools.empty()) {
    return job.price_usd_per_gpu_s * (cluster.nodes + spares) * cluster.node.gpus;
  }
  double of_nodes = 0;
  for (int node = 0; node < cluster.nodes; ++node) {
    const double own = cluster.pools[cluster.pool_of_node(node)].price_usd_per_gpu_s;
    of_nodes += own > 0 ? own : job.price_usd_per_gpu_s;
  }
  return of_nodes * cluster.node.gpus * (1 + spares / cluster.nodes);
}

Job on_pool(const Job& job, int pool) {
  if (pool < 0) return job;
  Job own = job;
  own.cluster.node = job.cluster.pools[pool].node;
  own.calibration = job.pool_calibrations[pool];
  return own;
}

}  // namespace windtunnel
