// One value of a job after defaults, library and overrides: what --explain prints and a record
// keeps.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/origin.hpp"
#include "models/base/units.hpp"

namespace windtunnel {

// What a value decides. A campaign runs on tables of iterations that do not depend on its own keys.
enum class Scope { iteration, campaign, label };

struct ResolvedValue {
  std::string key;    // "cluster.fabric.pod_oversubscription"
  std::string value;  // as text with its unit
  bool is_default = false;
  Origin origin = Origin::assumed;
  std::string source;
  std::optional<double> number = {};  // exactly, in base units; of a word there is none
  Dimension dimension = Dimension::number;
  Scope scope = Scope::iteration;
  bool is_found = false;  // by a search, which the scenario leaves it to
};

using Overrides = std::vector<std::pair<std::string, std::string>>;  // KEY, YAML value

}  // namespace windtunnel
