// Features of a job that do not go together: one table, a row for each pair with the reason and the
// way out. The rows stand by subject in the files beside this one; docs/physics/gradients.md prints
// all. To add one: a row; a feature that no row has named yet is a predicate in features.hpp.
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

// What a row asks about.
struct Asked {
  // NOLINTNEXTLINE(google-explicit-constructor): a job is what is mostly asked about.
  Asked(const Job& the_job) : job(the_job), offload(offload_of(the_job)) {}
  Asked(const Job& the_job, const Offload& other) : job(the_job), offload(other) {}

  const Job& job;
  const Offload& offload;              // the job's, or one that is tried for it
  const Schedule* schedule = nullptr;  // null: not made yet
  // Whether the job's scenario states a key, of parts that stand beside the job or are read after
  // it; empty: the job is not that of a scenario.
  std::function<bool(std::string_view key)> stated = {};
};

struct Feature {
  std::string_view name;  // for people: "sharded gradients"
  std::string_view key;   // of a scenario, that a message about it begins with
  bool (*in)(const Asked& asked);
  std::string_view other_key = {};  // by which it can be stated, too
};

struct Conflict {
  const Feature& is;  // looked at first; a message names its key
  const Feature& with;
  // What follows the key: ": ..." or "does not ...". Names in braces stand for what the job has
  // (kValues in conflicts.cpp).
  std::string_view why;
  std::string_view way;  // out of it; empty: `why` says it
};

// By subject, in the order in which their rows are looked at.
std::span<const Conflict> layout_conflicts();  // asked before a layout is known to be possible
std::span<const Conflict> island_conflicts();
std::span<const Conflict> redundancy_conflicts();
std::span<const Conflict> offload_conflicts();
std::span<const Conflict> training_conflicts();
std::span<const Conflict> zeroth_order_conflicts();
std::span<const Conflict> pool_conflicts();
std::span<const Conflict> length_conflicts();
std::span<const Conflict> exchange_conflicts();
std::span<const Conflict> study_conflicts();
std::span<const Conflict> campaign_conflicts();  // asked again once the campaign is read
// Asked where shares turn out unlike.
std::span<const Conflict> share_conflicts();
// Asked once the schedule is made.
std::span<const Conflict> schedule_conflicts();

struct ConflictSubject {
  std::string_view title;
  std::span<const Conflict> (*rows)();
};
// schedule_conflicts() are asked only where there is a schedule, share_conflicts() where it is
// known that shares are unlike.
std::span<const ConflictSubject> conflict_table();

struct Refusal {
  const Conflict* conflict = nullptr;
  std::string what;  // behind the key: ": ..." or "does not ..."

  // Without what joins it to the key.
  std::string_view reason() const {
    return std::string_view(what).substr(what.find_first_not_of(": "));
  }
};
// What a row says of a job; the schedule that it may name is there.
std::string text_of(const Conflict& row, const Asked& asked);

// The first row that holds.
std::optional<Refusal> first_refusal(std::span<const Conflict> rows, const Asked& asked);

// Throws Error about the keys of the first row that holds: of all that can be asked; of some.
void check_conflicts(const Asked& asked);
void check_conflicts(std::span<const Conflict> rows, const Asked& asked);

// The first reason, with its key, why these parts of a job cannot lie beside its GPUs' memory.
// Empty: they can.
std::string why_not(const Offload& offload, const Job& job);

// Whether a search is still to find what of a job lies beside its GPUs' memory.
bool leaves_open(const Offload& offload);

// The first stage that stands on one pipeline rank with the one before it; 0: none.
int stage_beside_its_neighbour(const Schedule& schedule);

}  // namespace windtunnel
