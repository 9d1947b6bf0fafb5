// Tests of collectives share a cluster and a calibration of round numbers, and a solver for flows
// on an idle network.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "models/machine/links/links.hpp"
#include "models/network/collectives/collective.hpp"
#include "tests/support/parameter.hpp"

namespace windtunnel {

inline constexpr double kNvlink_Bps = 450e9;
inline constexpr double kNic_Bps = 50e9;
inline constexpr double kPcie_Bps = 64e9;
inline constexpr double kHostMemory_Bps = 400e9;

inline Cluster make_cluster(int nodes, int gpus_per_node = 8, int nics = 8) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.node.gpus = gpus_per_node;
  cluster.node.nvlink_Bps = parameter(kNvlink_Bps);
  cluster.node.nics = nics;
  cluster.node.nic_Bps = parameter(kNic_Bps);
  cluster.node.pcie_Bps = parameter(kPcie_Bps);
  cluster.node.host_memory_Bps = parameter(kHostMemory_Bps);
  return cluster;
}

inline Calibration make_calibration() {
  Calibration calibration;
  calibration.nvlink_efficiency = parameter(0.85, Origin::measured);
  calibration.nvlink_latency_s = parameter(1e-6, Origin::published);
  calibration.nic_efficiency = parameter(0.9, Origin::measured);
  calibration.nic_latency_s = parameter(5e-6, Origin::assumed);
  calibration.collective_launch_s = parameter(4e-6, Origin::measured);
  calibration.pcie_efficiency = parameter(0.8);
  calibration.host_memory_efficiency = parameter(0.7);
  return calibration;
}

inline std::vector<std::int32_t> strided(int count, int stride, int first = 0) {
  std::vector<std::int32_t> gpus(count);
  for (int i = 0; i < count; ++i) gpus[i] = first + i * stride;
  return gpus;
}

// A transfer, and the bytes of it that remain.
struct FluidFlow {
  std::vector<int> route;  // indices of used links, once per unit of weight
  double amount = 0;
  double left = amount;
  double rate = 0;
};

// Gives flows their max-min fair rates by progressive filling.
inline void set_rates(std::vector<FluidFlow>& fluids, const std::vector<double>& capacity) {
  std::vector<double> free = capacity;
  std::vector<int> waiting(capacity.size(), 0);
  for (FluidFlow& fluid : fluids) {
    fluid.rate = 0;
    for (const int link : fluid.route) ++waiting[link];
  }
  for (size_t fixed = 0; fixed < fluids.size();) {
    double share = std::numeric_limits<double>::infinity();
    for (size_t link = 0; link < capacity.size(); ++link) {
      if (waiting[link] > 0) share = std::min(share, free[link] / waiting[link]);
    }
    std::vector<char> full(capacity.size(), 0);
    for (size_t link = 0; link < capacity.size(); ++link) {
      full[link] = waiting[link] > 0 && free[link] / waiting[link] <= share * (1 + 1e-12);
    }
    for (FluidFlow& fluid : fluids) {
      if (fluid.rate > 0) continue;
      if (std::none_of(fluid.route.begin(), fluid.route.end(),
                       [&](int link) { return full[link] != 0; })) {
        continue;
      }
      fluid.rate = share;
      ++fixed;
      for (const int link : fluid.route) {
        free[link] -= share;
        --waiting[link];
      }
    }
  }
}

// The time at which the last of the collective's transfers ends, if all share links max-min fairly.
inline double fluid_time(const CollectiveFlows& flows, const std::vector<std::int32_t>& gpus,
                         const Cluster& cluster) {
  const LinkTable table(cluster, !flows.demands.empty());
  std::vector<double> capacity;
  std::map<LinkId, int> known;
  std::vector<FluidFlow> active;
  const auto add = [&](const std::vector<LinkId>& route, double bytes) {
    if (bytes <= 0) return;
    FluidFlow& fluid = active.emplace_back(FluidFlow{{}, bytes});
    for (const LinkId link : route) {
      const auto [at, is_new] = known.try_emplace(link, static_cast<int>(capacity.size()));
      if (is_new) capacity.push_back(table.capacity(link));
      fluid.route.push_back(at->second);
    }
  };
  for (const CollectiveEdge& edge : flows.edges) {
    std::vector<LinkId> route;
    table.append_route(gpus[edge.source], gpus[edge.destination], route);
    add(route, edge.bytes);
  }
  for (const CollectiveDemand& demand : flows.demands) {
    std::vector<LinkId> route;
    table.append_resource(gpus[demand.member], demand.resource, route);
    add(route, demand.bytes);
  }
  double now_s = 0;
  while (!active.empty()) {
    set_rates(active, capacity);
    double step_s = std::numeric_limits<double>::infinity();
    for (const FluidFlow& fluid : active) step_s = std::min(step_s, fluid.left / fluid.rate);
    now_s += step_s;
    for (FluidFlow& fluid : active) fluid.left -= fluid.rate * step_s;
    std::erase_if(active, [](const FluidFlow& fluid) { return fluid.left < 1e-12 * fluid.amount; });
  }
  return flows.latency_s + now_s;
}

inline double closed_time(CollectiveKind kind, CollectiveAlgorithm algorithm,
                          const std::vector<std::int32_t>& gpus, double bytes,
                          const Cluster& cluster) {
  return collective_cost(kind, algorithm, group_shape(gpus, cluster), bytes, cluster,
                         make_calibration())
      .seconds;
}

inline double flow_time(CollectiveKind kind, CollectiveAlgorithm algorithm,
                        const std::vector<std::int32_t>& gpus, double bytes,
                        const Cluster& cluster) {
  return fluid_time(collective_flows(kind, algorithm, gpus, bytes, cluster, make_calibration()),
                    gpus, cluster);
}

}  // namespace windtunnel
