// Training software by name and release: the GPUs it runs on, the settings it implies, what it
// supports and what it refuses. scenarios/library/software.yaml has this as data, with conditions
// over named quantities of a job; no code here depends on a particular software.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/origin.hpp"
#include "models/plan/job.hpp"
#include "models/results/note.hpp"
#include "models/results/resolved_value.hpp"
#include "models/workload/layout.hpp"
#include "scenarios/language/library/facts/job_conditions.hpp"
#include "scenarios/language/text/document.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

// If all of `when` hold, one of `any` must hold, or the software refuses the job.
struct SoftwareRule {
  std::string name;
  std::vector<JobCondition> when, any;
  std::string reason;   // one sentence, with quantities in braces
  std::string instead;  // the way out
  std::string source;   // public place that documents or enforces it
};

// Keys that a software or a source of measured rows sets if all of `when` and one of `any` hold.
struct SoftwareChoice {
  std::vector<JobCondition> when, any;
  Overrides set;                           // keys of a scenario
  std::vector<Value> values;               // `set`, checked
  std::string entry;                       // of software.yaml or sources.yaml that makes the choice
  std::string source;                      // public place that documents it
  std::vector<FittedOn> fitted_on;         // rows that one of its numbers was fitted on
  std::vector<FittedOn> memory_fitted_on;  // the same for numbers about memory
  std::string calibration;  // of the library, for a source of measured rows; empty: its usual one

  bool conditional() const { return !when.empty() || !any.empty(); }
};

struct Framework {
  std::string name;
  std::string help;
  std::string base;                    // the entry that this one extends; empty: none
  std::vector<std::string> gpus;       // prefixes of names; empty: it runs on every GPU
  std::vector<std::string> schedules;  // supported; empty: every known one
  std::vector<Sharding> sharding;      // supported without a pipeline
  std::vector<Sharding> sharding_in_pipelines;
  Overrides set;                        // keys that the software sets in every scenario
  std::vector<SoftwareChoice> choices;  // the base's first; a later one wins
  std::vector<Value> defaults;          // values of the keys that conditions decide, if none holds
  std::vector<SoftwareRule> rules;
  Origin origin = Origin::published;  // of its numbers; `source` describes it
  std::string source;

  bool runs_on(std::string_view gpu) const;
};
const std::vector<Framework>& frameworks();
const Framework& find_framework(std::string_view name);  // throws Error with the nearest name

// The first software that names this GPU. Throws Error if none does.
const Framework& usual_framework(std::string_view gpu);
// Throws Error at --framework that names suitable software if this one does not run on the GPU.
void check_runs_on(const Framework& framework, std::string_view gpu);

// Reads an unconditional choice, the map at `set`. Throws Error as read_choices() does.
SoftwareChoice read_choice(const DocumentNode& set, const std::string& entry,
                           const std::string& source);

// Reads the list at a key. A choice without a source takes its entry's. Throws Error with location:
// keys that a software cannot choose, values that a scenario would not take, rows of a fit without
// a source, and what read_conditions() throws. If conditions may name columns (names.columns), a
// choice may also name another calibration.
std::vector<SoftwareChoice> read_choices(const DocumentNode& list, const std::string& entry,
                                         const std::string& source,
                                         const ConditionNames& names = {});

// Tells whether the user stated the key. A choice does not change stated keys.
using StatedKeys = std::function<bool(std::string_view key)>;

// A key that a choice set.
struct ChosenKey {
  std::string key, value;
  const SoftwareChoice* choice = nullptr;

  friend bool operator==(const ChosenKey&, const ChosenKey&) = default;
};
// Applies the choices to a job one after the other; each sees the effect of those before it.
// Returns the keys that were set, each with the last choice that set it.
std::vector<ChosenKey> choose(const std::vector<SoftwareChoice>& choices, const StatedKeys& stated,
                              Job& job, const RowWords& row = {});

// The source of the last choice in the entry itself, not in its base, that sets the key, because
// the last choice wins. Without such a choice it is the entry's own source.
const std::string& source_of(const Framework& framework, std::string_view key);

// Whether the value comes from the software that the scenario names.
bool is_chosen(const Framework& framework, const ResolvedValue& value);

// Applies the choices again after a change of the layout: resets every key that a condition
// decides, and returns the keys that are set now.
std::vector<ChosenKey> choose_again(const Framework& framework, const StatedKeys& stated, Job& job);

// A rule of a software that a job breaks.
struct BrokenRule {
  std::string what;  // the rule's name, or the list and the item that is missing in it
  std::string text;  // reason and way out
};
// The job's layout has passed check_layout().
std::vector<BrokenRule> broken_rules(const Framework& framework, const Job& job);

// Whether the software accepts the change from `job` to `changed`: it breaks no rule that `job`
// does not break too, whatever the numbers in the reasons. Always true if `software` is null.
bool takes_as_well(const Framework* software, const Job& changed, const Job& job);

// broken_rules() as notes on a scenario that names its software.
std::vector<Note> broken_rule_notes(const Framework& framework, const Job& job);

}  // namespace windtunnel
