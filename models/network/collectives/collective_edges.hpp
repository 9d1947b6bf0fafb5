// The transfers of a collective follow, edge by edge, from its steps (collective_steps.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/machine/cluster.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/network/collectives/collective_law.hpp"
#include "models/network/groups/collective_steps.hpp"

namespace windtunnel {

// Edges with their load on links: payload / the law's efficiency. If nodes have different numbers
// of members, the smallest number determines the number of lanes.
std::vector<CollectiveEdge> collective_edges(const CollectiveSteps& steps, const LawTerms& law,
                                             std::span<const std::int32_t> gpus,
                                             const Cluster& cluster);

// Every member sends to every other one directly, even across rails.
std::vector<CollectiveEdge> pair_edges(double payload, const LawTerms& law,
                                       std::span<const std::int32_t> gpus, const Cluster& cluster);

// Every member sends bytes[from * n + to] to every other one, first inside the node to the GPU on
// the receiver's rail (PXN).
std::vector<CollectiveEdge> matrix_edges(std::span<const double> bytes, const LawTerms& law,
                                         std::span<const std::int32_t> gpus,
                                         const Cluster& cluster);

// The longest time that any link needs for all its traffic at nominal bandwidth.
double busiest_link_s(std::span<const CollectiveEdge> edges, std::span<const std::int32_t> gpus,
                      const LinkTable& links);

// Copies over PCIe and host memory traffic; each node's is divided evenly among its members.
std::vector<CollectiveDemand> collective_demands(const CollectiveSteps& steps,
                                                 std::span<const std::int32_t> gpus,
                                                 const Cluster& cluster,
                                                 const Calibration& calibration);

}  // namespace windtunnel
