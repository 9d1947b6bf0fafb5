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

// An edge loads its links with payload / efficiency. If nodes have different numbers of members,
// the smallest number determines the number of lanes.
std::vector<CollectiveEdge> collective_edges(const CollectiveSteps& steps, const LawTerms& law,
                                             std::span<const std::int32_t> gpus,
                                             const Cluster& cluster);

// Every member sends `payload` bytes to every other one directly, even across rails.
std::vector<CollectiveEdge> pair_edges(double payload, const LawTerms& law,
                                       std::span<const std::int32_t> gpus, const Cluster& cluster);

// Member `from` sends bytes[from * n + to] to member `to`. Bytes for another node first go to the
// GPU of the sender's node that is on the receiver's rail (PXN).
std::vector<CollectiveEdge> matrix_edges(std::span<const double> bytes, const LawTerms& law,
                                         std::span<const std::int32_t> gpus,
                                         const Cluster& cluster);

// The longest time that any link needs for all its traffic at nominal bandwidth.
double busiest_link_s(std::span<const CollectiveEdge> edges, std::span<const std::int32_t> gpus,
                      const LinkTable& links);

// Copies over PCIe and traffic of host memory. The members of a node share its traffic evenly.
std::vector<CollectiveDemand> collective_demands(const CollectiveSteps& steps,
                                                 std::span<const std::int32_t> gpus,
                                                 const Cluster& cluster,
                                                 const Calibration& calibration);

}  // namespace windtunnel
