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

// What a row's predicates can examine.
struct Asked {
  // NOLINTNEXTLINE(google-explicit-constructor): a job is what is mostly asked about.
  Asked(const Job& the_job) : job(the_job), offload(offload_of(the_job)) {}
  Asked(const Job& the_job, const Offload& other) : job(the_job), offload(other) {}

  const Job& job;
  const Offload& offload;              // the job's, or a candidate for it
  const Schedule* schedule = nullptr;  // null: not generated yet
  // Whether the job's scenario sets a key, for parts that are not stored in the job or are read
  // after it; empty: the job does not come from a scenario.
  std::function<bool(std::string_view key)> stated = {};
};

struct Feature {
  std::string_view name;  // for people: "sharded gradients"
  std::string_view key;   // a scenario's key; messages about the feature begin with it
  bool (*in)(const Asked& asked);
  std::string_view other_key = {};  // alternative key
};

struct Conflict {
  const Feature& is;  // tested first; a message names its key
  const Feature& with;
  // Continues the message after the key: ": ..." or "does not ...". Names in braces are replaced by
  // the job's values (kValues in conflicts.cpp).
  std::string_view why;
  std::string_view way;  // remedy; empty: `why` contains it
};

// The rows by subject, in the order in which they are tested.
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
// schedule_conflicts() are tested only if there is a schedule, share_conflicts() only if shares are
// known to be unequal.
std::span<const ConflictSubject> conflict_table();

struct Refusal {
  const Conflict* conflict = nullptr;
  std::string what;  // follows the key: ": ..." or "does not ..."

  // `what` without the punctuation that follows the key.
  std::string_view reason() const {
    return std::string_view(what).substr(what.find_first_not_of(": "));
  }
};
// The text of a row for a job. If it names the schedule, `asked` must have one.
std::string text_of(const Conflict& row, const Asked& asked);

// The first row that applies.
std::optional<Refusal> first_refusal(std::span<const Conflict> rows, const Asked& asked);

// Throws Error about the keys of the first row that applies: among all that can be tested, or among
// `rows`.
void check_conflicts(const Asked& asked);
void check_conflicts(std::span<const Conflict> rows, const Asked& asked);

// The first reason, with its key, why these parts of a job cannot be offloaded. Empty: they can.
std::string why_not(const Offload& offload, const Job& job);

// Whether a search still has to choose what is offloaded.
bool leaves_open(const Offload& offload);

// Finds the first stage on the same pipeline rank as its predecessor; 0: none.
int stage_beside_its_neighbour(const Schedule& schedule);

}  // namespace windtunnel
