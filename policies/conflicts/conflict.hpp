// Features of a job that cannot be combined: one table, with a row per pair that gives the reason
// and the remedy. Rows are grouped by subject in the files of this folder;
// docs/physics/gradients.md prints all of them. A new conflict needs a row, and for a feature that
// no row names yet, a predicate in features.hpp.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/base/error.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"

namespace windtunnel {

// What the predicates of a row can examine.
struct Asked {
  // NOLINTNEXTLINE(google-explicit-constructor): most predicates examine only a job.
  Asked(const Job& the_job) : job(the_job), offload(offload_of(the_job)) {}
  Asked(const Job& the_job, const Offload& other) : job(the_job), offload(other) {}

  const Job& job;
  const Offload& offload;              // the job's, or one that a search tries for it
  const Schedule* schedule = nullptr;  // null: not generated yet
  // Whether the job's scenario sets a key. Predicates ask this about settings that are not stored
  // in the job or are read after it. Empty: the job does not come from a scenario.
  std::function<bool(std::string_view key)> stated = {};
};

struct Feature {
  std::string_view name;  // for people: "sharded gradients"
  std::string_view key;   // a scenario's key; messages about the feature begin with it
  bool (*in)(const Asked& asked);
  std::string_view other_key = {};  // another key that sets the feature
};

struct Conflict {
  const Feature& is;  // tested first; a message names the key of this feature
  const Feature& with;
  // Continues the message after the key: ": ..." or "does not ...". Names in braces are replaced by
  // the job's values (kValues in conflicts.cpp).
  std::string_view why;
  std::string_view way;  // remedy; empty: `why` contains it
};

// The rows of one subject each, in the order in which they are tested.
std::span<const Conflict> layout_conflicts();  // tested before the layout is known to be valid
std::span<const Conflict> island_conflicts();
std::span<const Conflict> redundancy_conflicts();
std::span<const Conflict> offload_conflicts();
std::span<const Conflict> training_conflicts();
std::span<const Conflict> zeroth_order_conflicts();
std::span<const Conflict> pool_conflicts();
std::span<const Conflict> length_conflicts();
std::span<const Conflict> exchange_conflicts();
std::span<const Conflict> study_conflicts();
std::span<const Conflict> campaign_conflicts();  // tested again after the campaign is read
// Tested if shares are unequal.
std::span<const Conflict> share_conflicts();
// Tested once the schedule is generated.
std::span<const Conflict> schedule_conflicts();

struct ConflictSubject {
  std::string_view title;
  std::span<const Conflict> (*rows)();
};
// schedule_conflicts() are tested only once the schedule is generated, share_conflicts() only once
// shares are known to be unequal.
std::span<const ConflictSubject> conflict_table();

struct Refusal {
  const Conflict* conflict = nullptr;
  std::string what;  // follows the key: ": ..." or "does not ..."

  // `what` without the punctuation that follows the key.
  std::string_view reason() const {
    return std::string_view(what).substr(what.find_first_not_of(": "));
  }
};
// Returns the text of a row for a job. If the text names the schedule, `asked` must have one.
std::string text_of(const Conflict& row, const Asked& asked);

// Returns the message of the first row that applies to the job.
std::optional<Refusal> first_refusal(std::span<const Conflict> rows, const Asked& asked);

// Throws Error about the keys of the first row that applies: among all rows that can be tested, or
// among `rows`.
void check_conflicts(const Asked& asked);
void check_conflicts(std::span<const Conflict> rows, const Asked& asked);

// Returns the first reason, with its key, why the job cannot have this offload; or nothing.
std::string why_not(const Offload& offload, const Job& job);

// Whether a search still has to choose what is offloaded.
bool leaves_open(const Offload& offload);

// Returns the first stage that is on the same pipeline rank as its predecessor; 0: none.
int stage_beside_its_neighbour(const Schedule& schedule);

}  // namespace windtunnel
