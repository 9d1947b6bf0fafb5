// Why a run may be slower than its job: scenarios/library/causes.yaml.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/results/resolved_value.hpp"

namespace windtunnel {

// The pattern in the step times of a log.
enum class StepPattern { steady, phase, trend, bursts, jitter, periodic };
const std::vector<std::string>& step_pattern_names();
std::string_view name_of(StepPattern pattern);

struct Strength {
  double from = 0, to = 0;
  std::string meaning;  // with {x}
};

struct Cause {
  std::string name, help;
  Overrides set;  // with {x}, {rest}, {period}, {length}
  std::optional<Strength> strength;
  std::vector<StepPattern> patterns;
  bool shows_as_input = false;  // its extra time appears in the log's timer of samples
  double prior = 1;
  std::vector<std::pair<std::string, std::string>> look_at;  // by software; "any" is last
  std::string tells, source;

  bool makes(StepPattern pattern) const;
};

const std::vector<Cause>& causes();

// The setting to look at in a software; empty if `software` is not known.
const std::string& setting_of(const Cause& cause, std::string_view software);

}  // namespace windtunnel
