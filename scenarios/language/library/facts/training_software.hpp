// Training software by its name: on which GPUs it runs, what it can do and what it refuses, which
// scenarios/library/software.yaml says as data. A rule is a condition over named quantities of a
// job; nothing here knows a software by its name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/plan/job.hpp"
#include "models/results/note.hpp"
#include "models/results/resolved_value.hpp"
#include "models/workload/layout.hpp"

namespace windtunnel {

// What a condition compares: "divides", "at_least", ...
enum class RulePredicate { divides, at_least, at_most, equals, one_of, starts_with };

// A quantity of the job, compared with the operands: numbers, quantities or words.
struct RuleCondition {
  std::string quantity;
  RulePredicate predicate = RulePredicate::equals;
  std::vector<std::string> operands;
};

// Where all conditions of `when` hold, one of `any` has to.
struct SoftwareRule {
  std::string name;
  std::vector<RuleCondition> when, any;
  std::string reason;   // one sentence, with quantities in braces
  std::string instead;  // the way out
  std::string source;   // public place that documents or enforces it
};

struct Framework {
  std::string name;
  std::string help;
  std::vector<std::string> gpus;       // how their names begin; empty: it runs on every one
  std::vector<std::string> schedules;  // that it runs; empty: every one that is known
  std::vector<Sharding> sharding;      // of its training state
  std::vector<Sharding> sharding_in_pipelines;
  Overrides set;  // what it makes of a scenario
  std::vector<SoftwareRule> rules;
  std::string source;

  bool runs_on(std::string_view gpu) const;
};
const std::vector<Framework>& frameworks();
const Framework& find_framework(std::string_view name);  // throws Error with the nearest name

// The first that names this GPU. Throws Error where none does.
const Framework& usual_framework(std::string_view gpu);
// Throws Error at --framework, with the names of those that do, where it does not run on the GPU.
void check_runs_on(const Framework& framework, std::string_view gpu);

// What of the job the software would refuse: the rule's name, reason and way out, one text each.
// Of a job whose layout check_layout() accepts.
std::vector<std::string> broken_rules(const Framework& framework, const Job& job);

// Whether the software refuses nothing of `changed` that it does not refuse of `job` too, so that
// the change may be advised. True where no software is named (null).
bool takes_as_well(const Framework* software, const Job& changed, const Job& job);

// broken_rules() as notes on a scenario that names its software.
std::vector<Note> broken_rule_notes(const Framework& framework, const Job& job);

}  // namespace windtunnel
