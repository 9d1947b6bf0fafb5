// A scenario as a command names it: a file of YAML, the configuration of a training program, or the
// record.json of an earlier run, which holds what its result was made from. Every command that
// takes a scenario takes both, apart from `calibrate`, which also belongs to the program for nodes,
// without the simulator.
#pragma once

#include <string>

#include "scenarios/language/case.hpp"

namespace windtunnel {

struct LoadedScenario {
  ScenarioText text;
  bool allow_oom = false;  // a record of a job that does not fit in memory was made with it

  // With an absolute file, so that its record can be made again from anywhere.
  Case at(const Overrides& point = {}) const;
};

// `set` comes on top of what a record was made with. Says on stderr where a result made again may
// be another one: by another build, of another case, with a file that has changed. Throws Error as
// load_case does, and for files of a compare or a sweep, with what takes them. `has_options`: the
// command has --cluster and --model, which errors then name.
LoadedScenario load_scenario(const std::string& path, const Overrides& set = {},
                             bool has_options = false);

}  // namespace windtunnel
