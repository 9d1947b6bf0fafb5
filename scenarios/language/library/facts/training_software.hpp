// Training software by its name and release: on which GPUs it runs, what it makes of a job, what it
// can do and what it refuses, which scenarios/library/software.yaml says as data, with conditions
// over named quantities of a job; nothing here knows a software by its name.
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

// Where all conditions of `when` hold, one of `any` has to.
struct SoftwareRule {
  std::string name;
  std::vector<JobCondition> when, any;
  std::string reason;   // one sentence, with quantities in braces
  std::string instead;  // the way out
  std::string source;   // public place that documents or enforces it
};

// What a software makes of a job, or a row says of it, where all of `when` hold and one of `any`.
struct SoftwareChoice {
  std::vector<JobCondition> when, any;
  Overrides set;                    // keys of a scenario
  std::vector<Value> values;        // the same, checked
  std::string entry;                // of software.yaml or sources.yaml, that makes it
  std::string source;               // public place that documents it
  std::vector<FittedOn> fitted_on;  // rows that one of its numbers was fitted on
  // Only a row's source has these: numbers in the place of the calibration's, and what is added to
  // the calibration's name.
  std::string calibration;
  std::vector<std::pair<Parameter Calibration::*, Parameter>> numbers;

  bool conditional() const { return !when.empty() || !any.empty(); }
};

struct Framework {
  std::string name;
  std::string help;
  std::string base;                    // the entry that it starts from; empty: none
  std::vector<std::string> gpus;       // how their names begin; empty: it runs on every one
  std::vector<std::string> schedules;  // that it runs; empty: every one that is known
  std::vector<Sharding> sharding;      // of its training state
  std::vector<Sharding> sharding_in_pipelines;
  Overrides set;                        // what it makes of every scenario
  std::vector<SoftwareChoice> choices;  // all that it makes, the base's first; a later one wins
  std::vector<Value> defaults;          // the keys that a condition decides, as nothing sets them
  std::vector<SoftwareRule> rules;
  Origin origin = Origin::published;  // of its numbers, as `source`
  std::string source;

  bool runs_on(std::string_view gpu) const;
};
const std::vector<Framework>& frameworks();
const Framework& find_framework(std::string_view name);  // throws Error with the nearest name

// The first that names this GPU. Throws Error where none does.
const Framework& usual_framework(std::string_view gpu);
// Throws Error at --framework if it does not run on the GPU, and names those that do.
void check_runs_on(const Framework& framework, std::string_view gpu);

// Reads one that nothing conditions: the map at `set`. Throws Error as read_choices() does.
SoftwareChoice read_choice(const DocumentNode& set, const std::string& entry,
                           const std::string& source);

// Reads the list at a key. A choice that names no source has that of its entry. Throws Error with
// location: keys that are no choice of a software's, values that a scenario would not take, rows of
// a fit without a source, and what read_conditions() throws. Where a row is asked too
// (names.columns), a choice may have numbers of the calibration.
std::vector<SoftwareChoice> read_choices(const DocumentNode& list, const std::string& entry,
                                         const std::string& source,
                                         const ConditionNames& names = {});

// Keys that somebody stated, which a choice leaves as they are.
using StatedKeys = std::function<bool(std::string_view key)>;

// A key that a choice set.
struct ChosenKey {
  std::string key, value;
  const SoftwareChoice* choice = nullptr;

  friend bool operator==(const ChosenKey&, const ChosenKey&) = default;
};
// Makes the choices of a job, one after the other, each seeing what those before it made of it.
// Returns the keys that it set, each with the last choice that did.
std::vector<ChosenKey> choose(const std::vector<SoftwareChoice>& choices, const StatedKeys& stated,
                              Job& job, const RowWords& row = {});

// Where it is documented what the entry, and not one that it starts from, chooses for the key; of
// several choices the last, which wins.
const std::string& source_of(const Framework& framework, std::string_view key);

// Whether the value of a scenario that names the software is the software's choice.
bool is_chosen(const Framework& framework, const ResolvedValue& value);

// Makes the choices of a job whose layout has changed since they were made: every key that a
// condition decides is first as if nothing set it. Returns those keys that it set.
std::vector<ChosenKey> choose_again(const Framework& framework, const StatedKeys& stated, Job& job);

// A rule of a software that a job breaks.
struct BrokenRule {
  std::string what;  // the rule's name, or the list and what of the job does not stand in it
  std::string text;  // reason and way out
};
// The job's layout has passed check_layout().
std::vector<BrokenRule> broken_rules(const Framework& framework, const Job& job);

// Whether the software refuses nothing of `changed` that it does not refuse of `job` too, whatever
// the numbers in its reasons, so that the change may be advised. True where no software is named
// (null).
bool takes_as_well(const Framework* software, const Job& changed, const Job& job);

// broken_rules() as notes on a scenario that names its software.
std::vector<Note> broken_rule_notes(const Framework& framework, const Job& job);

}  // namespace windtunnel
