// One value of a job after defaults, library and overrides: printed by --explain and kept in a
// record.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/origin.hpp"
#include "models/base/units.hpp"

namespace windtunnel {

// Which results a value affects. A campaign reuses tables of iterations, which do not depend on
// campaign keys.
enum class Scope { iteration, campaign, label };

struct ResolvedValue {
  std::string key;    // "cluster.fabric.pod_oversubscription"
  std::string value;  // as text with its unit
  bool is_default = false;
  Origin origin = Origin::assumed;
  std::string source;
  std::optional<double> number = {};  // exact, in base units; none for a word
  Dimension dimension = Dimension::number;
  Scope scope = Scope::iteration;
  bool is_found = false;  // found by a search, because the scenario leaves it open
};

using Overrides = std::vector<std::pair<std::string, std::string>>;  // KEY, YAML value

}  // namespace windtunnel
