// Loads the SCENARIO argument of a command: a file of YAML, the configuration of a training
// program, or the record.json of an earlier run, which contains its input. All commands that take a
// scenario accept all of these, except `calibrate`: it is also in the program for nodes, which
// lacks the simulator.
#pragma once

#include <string>

#include "scenarios/language/case.hpp"

namespace windtunnel {

struct LoadedScenario {
  ScenarioText text;
  bool allow_oom = false;  // from the record of a job that does not fit in memory

  // The case has an absolute file name, so that its record can be made again from any folder.
  Case at(const Overrides& point = {}) const;
};

// Applies `set` after the settings of a record. Warns on stderr if a result made again may differ:
// another build, another case, a changed file. Throws Error as load_case() does, and for files of a
// compare or a sweep, naming the command for them. `has_options`: the command has --cluster and
// --model, which errors may name.
LoadedScenario load_scenario(const std::string& path, const Overrides& set = {},
                             bool has_options = false);

}  // namespace windtunnel
