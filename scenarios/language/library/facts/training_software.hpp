// Training software by its name and release: on which GPUs it runs, what it makes of a job, what it
// can do and what it refuses, which scenarios/library/software.yaml says as data, with conditions
// over named quantities of a job; nothing here knows a software by its name.
#pragma once

#include <functional>
#include <string>
#include <string_view>
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
  Overrides set;              // keys of a scenario
  std::vector<Value> values;  // the same, checked
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
  std::vector<SoftwareRule> rules;
  Origin origin = Origin::published;  // of its numbers, as `source`
  std::string source;
  std::vector<FittedOn> fitted_on;  // rows that some of them were fitted on, the base's included

  bool runs_on(std::string_view gpu) const;
};
const std::vector<Framework>& frameworks();
const Framework& find_framework(std::string_view name);  // throws Error with the nearest name

// The first that names this GPU. Throws Error where none does.
const Framework& usual_framework(std::string_view gpu);
// Throws Error at --framework, with the names of those that do, where it does not run on the GPU.
void check_runs_on(const Framework& framework, std::string_view gpu);

// Of the list at a key. Throws Error with location: keys that are no choice of a software's, values
// that a scenario would not take, and what read_conditions() throws.
std::vector<SoftwareChoice> read_choices(const DocumentNode& list,
                                         const std::vector<std::string_view>& columns = {});

// Keys that somebody stated, which a choice leaves as they are.
using StatedKeys = std::function<bool(std::string_view key)>;

// Makes the choices of a job, one after the other, each seeing what those before it made of it.
// Returns the keys that it set.
Overrides choose(const std::vector<SoftwareChoice>& choices, const StatedKeys& stated, Job& job,
                 const RowWords& row = {});

// What of the job the software would refuse: the rule's name, reason and way out, one text each.
// The job's layout has passed check_layout().
std::vector<std::string> broken_rules(const Framework& framework, const Job& job);

// Whether the software refuses nothing of `changed` that it does not refuse of `job` too, so that
// the change may be advised. True where no software is named (null).
bool takes_as_well(const Framework* software, const Job& changed, const Job& job);

// broken_rules() as notes on a scenario that names its software.
std::vector<Note> broken_rule_notes(const Framework& framework, const Job& job);

}  // namespace windtunnel
