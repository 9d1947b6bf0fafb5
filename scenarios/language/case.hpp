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
  std::string table;     // hash of the values that decide an iteration, without the campaign
  std::string file;      // its name in messages; files that the text names are searched for next to
                         // it
  std::string text;      // the content of the file
  Overrides set;         // applied to the text in this order
  std::vector<NamedFile> files;  // files that the text names, as they were read
  // Where each key of the scenario stands. `places.placing(work)` adds these places to Errors about
  // the job. Empty if the Case was not read from a scenario.
  Places places = {};
  Job job;
  // The result of prepare_iteration() for the job; null if the Case was not read from a scenario.
  std::shared_ptr<const PreparedIteration> prepared = nullptr;
  TrainingPauses pauses = {};  // of the campaign
  ValuesByType asked = {};     // the studies asked for, by the rows of asked_studies.hpp
  std::vector<ResolvedValue> values = {};
  std::vector<Note> notes = {};  // without repeats
};

// The training software that the scenario names; null: none.
const Framework* software_of(const Case& the_case);

struct Additions;  // scenarios/language/additions.hpp

// What a case is resolved from.
struct ScenarioText {
  std::string file;    // its name in messages; files that the text names are searched for next to
                       // it
  std::string text;    // the content of the file
  Overrides set = {};  // applied to the text in this order
  std::shared_ptr<const Location> set_at = nullptr;  // where `set` was written; null: on the
                                                     // command line
  std::vector<NamedFile> files = {};  // files that the text names, used instead of those on disk
  std::shared_ptr<const Additions> added = nullptr;  // what the calling program adds
  bool operator==(const ScenarioText&) const = default;
};

// Throws Error if the file cannot be read.
ScenarioText read_scenario(const std::string& path, const Overrides& set = {});
// Applies `more` after scenario.set. Throws Error as load_case() does.
Case resolve_case(const ScenarioText& scenario, const Overrides& more = {},
                  const Prepare& prepare = {});
// Does not prepare the iteration: Case::prepared is null, and nothing checks whether the schedule
// is possible or what a step costs.
Case resolve_unprepared(const ScenarioText& scenario, const Overrides& more = {});

// Reads, checks and resolves. Throws Error with file:line:column, or with the location "--set
// KEY=VALUE" if an override is at fault.
Case load_case(const std::string& path, const Overrides& overrides = {});
// The same from text; `file` is its name in messages, `added` what the calling program adds.
Case parse_case(const std::string& text, const std::string& file, const Overrides& overrides = {},
                const std::shared_ptr<const Additions>& added = nullptr);

}  // namespace windtunnel
