// Machines, and tables of NCCL's tuner for them, that the tests share.
#pragma once

#include "models/network/nccl/nccl_tuner.hpp"

namespace windtunnel {

inline Parameter exactly(double value) {
  return {value, value, value, Origin::spec, "test"};
}

inline NodeSpec node_of(GpuGeneration generation, int gpus, int nics, double nvlink_GBps,
                        double nic_GBps, double pcie_GBps) {
  NodeSpec node;
  node.gpu.generation = generation;
  node.gpus = gpus;
  node.nics = nics;
  node.nvlink_Bps = exactly(1e9 * nvlink_GBps);
  node.nic_Bps = exactly(1e9 * nic_GBps);
  node.pcie_Bps = exactly(1e9 * pcie_GBps);
  return node;
}

inline NodeSpec dgx_v100() {
  return node_of(GpuGeneration::volta, 8, 4, 150, 12.5, 16);
}
inline NodeSpec dgx_a100() {
  return node_of(GpuGeneration::ampere, 8, 8, 300, 25, 32);
}
inline NodeSpec dgx_h100() {
  return node_of(GpuGeneration::hopper, 8, 8, 450, 50, 64);
}
inline NodeSpec gh200_quad() {
  NodeSpec node = node_of(GpuGeneration::hopper, 4, 4, 450, 25, 450);
  node.gpu.superchip = true;
  return node;
}

inline GroupShape shape_of(int nodes, int members_per_node) {
  GroupShape shape;
  shape.nodes = nodes;
  shape.members_per_node = members_per_node;
  shape.members = nodes * members_per_node;
  return shape;
}

inline TunerTable table_of(CollectiveKind kind, const NodeSpec& node, int nodes,
                           int members_per_node, const TunerSettings& settings = {}) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.node = node;
  return make_tuner_table(kind, shape_of(nodes, members_per_node), cluster, settings);
}

inline TunerTable all_reduce_on(const NodeSpec& node, int nodes,
                                const TunerSettings& settings = {}) {
  return table_of(CollectiveKind::all_reduce, node, nodes, node.gpus, settings);
}

inline constexpr double kKib = 1024;
inline constexpr double kMib = 1024 * kKib;

inline CollectiveChoice pick(const TunerTable& table, double bytes) {
  return nccl_choice(table, {}, bytes);
}

// Bus bandwidth in GB/s of algorithm and protocol, at sizes where latency is negligible.
inline double bus_bandwidth(const TunerTable& table, CollectiveAlgorithm algorithm,
                            Protocol protocol, double factor) {
  const double bytes = 1e15;
  return 1e-9 * factor * bytes / nccl_nominal_s(table, algorithm, protocol, bytes);
}

inline double all_reduce_factor(int members) {
  return 2 * (members - 1.) / members;
}

}  // namespace windtunnel
