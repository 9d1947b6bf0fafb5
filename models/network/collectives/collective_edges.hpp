// The transfers of a collective, edge by edge, from what it does (collective_steps.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/machine/cluster.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/network/collectives/collective_law.hpp"
#include "models/network/groups/collective_steps.hpp"

namespace windtunnel {

// What the steps put on links: payload / the law's efficiency. Where nodes have different numbers
// of members, as many lanes as the fewest have.
std::vector<CollectiveEdge> collective_edges(const CollectiveSteps& steps, const LawTerms& law,
                                             std::span<const std::int32_t> gpus,
                                             const Cluster& cluster);

// From every member to every other one directly, whatever the rails.
std::vector<CollectiveEdge> pair_edges(double payload, const LawTerms& law,
                                       std::span<const std::int32_t> gpus, const Cluster& cluster);

// bytes[from * n + to] from every member to every other one, first to the receiver's rail inside
// the node (PXN).
std::vector<CollectiveEdge> matrix_edges(std::span<const double> bytes, const LawTerms& law,
                                         std::span<const std::int32_t> gpus,
                                         const Cluster& cluster);

// Time of the link that takes longest for all its traffic, at its nominal bandwidth.
double busiest_link_s(std::span<const CollectiveEdge> edges, std::span<const std::int32_t> gpus,
                      const LinkTable& links);

// Copies over PCIe and traffic of the hosts' memory, each node's in equal parts by its members.
std::vector<CollectiveDemand> collective_demands(const CollectiveSteps& steps,
                                                 std::span<const std::int32_t> gpus,
                                                 const Cluster& cluster,
                                                 const Calibration& calibration);

}  // namespace windtunnel
