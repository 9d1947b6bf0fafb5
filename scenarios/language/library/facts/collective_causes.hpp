// What makes collectives slower than the law of their machine says, in ways that a user can mend:
// scenarios/library/collective_causes.yaml, which says how an entry is read.
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
  std::optional<bool> across;     // nodes; none: any group
  std::vector<double> strengths;  // empty: by the node's NICs
  std::string strength;           // in words, with "{}" in place of the number
  // Constants that the cause changes: each is multiplied by the strength to the power given.
  std::vector<std::pair<Parameter InterconnectLaw::*, double>> law;
  std::vector<std::pair<Parameter NodeSpec::*, double>> node;
  CollectiveChoice choice;  // forced
  bool without_nvls = false;
};

const std::vector<CollectiveCause>& collective_causes();

// The strengths to try on nodes with so many NICs.
std::vector<double> strengths_of(const CollectiveCause& cause, int nics);

}  // namespace windtunnel
