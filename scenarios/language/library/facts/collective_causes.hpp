// Faults that a user can fix and that make collectives slower than the law of their machine:
// scenarios/library/collective_causes.yaml, which explains its entries.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/calibration/interconnect_law.hpp"
#include "models/machine/cluster.hpp"
#include "models/network/groups/collective_choice.hpp"

namespace windtunnel {

struct CollectiveCause {
  std::string name, says, look_at, source;
  std::optional<bool> across;     // whether the group spans nodes; none: either
  std::vector<double> strengths;  // empty: by the number of NICs of a node
  std::string strength;           // in words, with "{}" in place of the number
  // Constants that the cause changes, each multiplied by strength^exponent (second).
  std::vector<std::pair<Parameter InterconnectLaw::*, double>> law;
  std::vector<std::pair<Parameter NodeSpec::*, double>> node;
  CollectiveChoice choice;  // forced by the cause
  bool without_nvls = false;
};

const std::vector<CollectiveCause>& collective_causes();

// The strengths to try on nodes with `nics` NICs.
std::vector<double> strengths_of(const CollectiveCause& cause, int nics);

}  // namespace windtunnel
