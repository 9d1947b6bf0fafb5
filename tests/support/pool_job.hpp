// This small job runs on two kinds of node, the second at half the speed in every respect: 2 nodes
// of 4 GPUs each, 2 stages of 4 replicas of 2 ranks.
#pragma once

#include "tests/support/small_job.hpp"

namespace windtunnel {

enum class PoolAxis {
  none,  // all nodes are of the first kind
  pp,    // a stage on each kind
  dp,    // half of the replicas on each kind
};

inline Job pool_job(PoolAxis axis) {
  Job job = small_job(2, 2, 4);
  if (axis == PoolAxis::none) return job;
  Cluster& cluster = job.cluster;
  Pool fast;
  fast.name = "new";
  fast.nodes = 2;
  fast.node = cluster.node;
  Pool slow = fast;
  slow.name = "old";
  NodeSpec& node = slow.node;
  for (Parameter* number :
       {&node.gpu.fp32_flops, &node.gpu.tf32_flops, &node.gpu.fp16_flops, &node.gpu.bf16_flops,
        &node.gpu.memory_Bps, &node.nvlink_Bps, &node.nic_Bps, &node.pcie_Bps}) {
    number->value /= 2;
  }
  cluster.pools = {fast, slow};
  cluster.machine_nodes = 4;
  cluster.node = cluster.shared = shared_node(cluster.pools);
  job.pool_calibrations = {job.calibration, job.calibration};
  if (axis == PoolAxis::dp) cluster.places = {0, 2, 1, 3};
  return job;
}

}  // namespace windtunnel
