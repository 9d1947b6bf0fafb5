// Says which parameter limits a GPU's PCIe rate.
#pragma once

#include "models/machine/cluster.hpp"

namespace windtunnel {

// The parameter behind NodeSpec::pcie_one_way_Bps() and pcie_both_ways_Bps(): the link, or the root
// port if it is slower. The result has that parameter's value, which may differ from the rate.
inline const Parameter& one_way_limit(const NodeSpec& node) {
  return node.pcie_one_way_Bps() < node.pcie_Bps.value ? node.root_port_Bps : node.pcie_Bps;
}
inline const Parameter& both_ways_limit(const NodeSpec& node) {
  return node.pcie_both_ways_Bps() < node.pcie_Bps.value ? node.root_port_Bps : node.pcie_Bps;
}

}  // namespace windtunnel
