// Says which parameter a GPU's PCIe rate rests on.
#pragma once

#include "models/machine/cluster.hpp"

namespace windtunnel {

// NodeSpec::pcie_one_way_Bps() and pcie_both_ways_Bps() rest on the link, or on the root port where
// it passes less. The parameter's value is its own, not the rate.
inline const Parameter& one_way_limit(const NodeSpec& node) {
  return node.pcie_one_way_Bps() < node.pcie_Bps.value ? node.root_port_Bps : node.pcie_Bps;
}
inline const Parameter& both_ways_limit(const NodeSpec& node) {
  return node.pcie_both_ways_Bps() < node.pcie_Bps.value ? node.root_port_Bps : node.pcie_Bps;
}

}  // namespace windtunnel
