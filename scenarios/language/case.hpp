// One point to simulate: a scenario with its --set and --vary values applied and every name
// resolved against the library.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "models/base/values_by_type.hpp"
#include "models/plan/job.hpp"
#include "models/reliability/pauses.hpp"
#include "models/results/named_file.hpp"
#include "models/results/note.hpp"
#include "models/results/resolved_value.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

struct Framework;  // scenarios/language/library/facts/training_software.hpp

struct Case {
  std::string scenario;  // its `name`
  std::string key;       // stable: hash of the resolved values
  std::string table;     // the same of those that decide its iterations, but not its campaign
  std::string file;      // as messages name it; files that the text names are sought beside it
  std::string text;      // what stands in it
  Overrides set;         // on top of the text, in this order
  std::vector<NamedFile> files;  // that the text names, as they were read
  // Of its keys, for Errors about the job: `places.placing(work)`. Empty of a Case that was not
  // read from a scenario.
  Places places = {};
  Job job;
  // prepare_iteration() of the job; null: of a Case that was not read from a scenario.
  std::shared_ptr<const PreparedIteration> prepared = nullptr;
  TrainingPauses pauses = {};  // of the campaign
  ValuesByType asked = {};     // of its studies, by the rows of asked_studies.hpp
  std::vector<ResolvedValue> values = {};
  std::vector<Note> notes = {};  // each once
};

// The training software that the scenario names; null: none.
const Framework* software_of(const Case& the_case);

struct Additions;  // scenarios/language/additions.hpp

// What a case is resolved from.
struct ScenarioText {
  std::string file;    // as messages name it; files that the text names are sought beside it
  std::string text;    // what stands in it
  Overrides set = {};  // on top of the text, in this order
  std::shared_ptr<const Location> set_at = nullptr;  // where it stands; null: command line
  std::vector<NamedFile> files = {};  // that the text names, in the place of those on the disk
  std::shared_ptr<const Additions> added = nullptr;  // of the calling program
  bool operator==(const ScenarioText&) const = default;
};

// Throws Error if the file cannot be read.
ScenarioText read_scenario(const std::string& path, const Overrides& set = {});
// `more` comes on top of what is set. Throws Error as load_case() does.
Case resolve_case(const ScenarioText& scenario, const Overrides& more = {},
                  const Prepare& prepare = {});
// The same without its iteration (Case::prepared is null): neither whether the schedule can be nor
// what a step costs is asked.
Case resolve_unprepared(const ScenarioText& scenario, const Overrides& more = {});

// Reads, checks and resolves. Throws Error with file:line:column. Overrides are reported with the
// location "--set KEY=VALUE".
Case load_case(const std::string& path, const Overrides& overrides = {});
// The same from text; `file` is the name used in messages, `added` what the calling program brings.
Case parse_case(const std::string& text, const std::string& file, const Overrides& overrides = {},
                const std::shared_ptr<const Additions>& added = nullptr);

}  // namespace windtunnel
