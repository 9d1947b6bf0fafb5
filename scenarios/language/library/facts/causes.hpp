// Causes that make a run slower than its job should be: scenarios/library/causes.yaml.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/calibration/interconnect_law.hpp"
#include "models/machine/cluster.hpp"
#include "models/network/groups/collective_choice.hpp"
#include "models/results/resolved_value.hpp"

namespace windtunnel {

// Patterns of a log's step times over the run.
enum class StepPattern { steady, phase, trend, bursts, jitter, periodic };
const std::vector<std::string>& step_pattern_names();
std::string_view name_of(StepPattern pattern);

struct Strength {
  double from = 0, to = 0;
  std::string meaning;  // words in which {x} stands for the strength
};

struct Cause {
  std::string name, help;
  Overrides set;  // values may contain {x}, {rest}, {period}, {length}, which causes.yaml explains
  std::optional<Strength> strength;
  std::vector<StepPattern> patterns;
  bool shows_as_input = false;  // its extra time appears in the log's timer of loading samples
  double prior = 1;
  std::vector<std::pair<std::string, std::string>> look_at;  // [software] setting; "any" is last
  std::string tells, source;

  bool makes(StepPattern pattern) const;
};

const std::vector<Cause>& causes();

// The setting to look at in `software` ("": not known), or else the setting for "any".
const std::string& setting_of(const Cause& cause, std::string_view software);

// Faults that a user can fix and that make collectives slower than the law of their machine:
// scenarios/library/collective_causes.yaml, which explains its entries.

struct CollectiveCause {
  std::string name, says, look_at, source;
  std::optional<bool> across;     // whether the group spans nodes; none: either
  std::vector<double> strengths;  // empty: by the number of NICs of a node
  std::string strength;           // in words, with "{}" in place of the number
  // Constants that the cause changes. Each is multiplied by strength^(the second number).
  std::vector<std::pair<Parameter InterconnectLaw::*, double>> law;
  std::vector<std::pair<Parameter NodeSpec::*, double>> node;
  CollectiveChoice choice;  // forced by the cause
  bool without_nvls = false;
};

const std::vector<CollectiveCause>& collective_causes();

// The strengths to try on nodes with `nics` NICs.
std::vector<double> strengths_of(const CollectiveCause& cause, int nics);

}  // namespace windtunnel
