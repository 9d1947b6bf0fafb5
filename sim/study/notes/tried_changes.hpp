// Advice that was tried: single changes of a job. Each is estimated in closed form and checked
// against memory before it is recommended. A change is a row of a table, so another kind of advice
// needs only another table.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/language/case.hpp"

namespace windtunnel {

struct Change {
  // Returns steps of the change, smallest first; empty if the change does not apply.
  std::vector<Overrides> (*steps)(const Job& job);
  const char* also = "";  // effects on more than how the same training is computed
};

// A job with one step of a change. Times are by estimate_iteration().
struct TriedChange {
  Overrides set;
  const char* also = "";
  std::string excess;        // memory_excess(); empty: it fits
  double bytes = 0;          // memory of the GPU with the least room
  double usable_bytes = 0;   // of the same GPU
  double times_as_long = 1;  // time per token, relative to the job without the change
};

// Returns for each change the first step that the scenario allows and `enough` accepts. Changes
// that affect only how the training is computed come first, fastest at the top. Empty for a Case
// that was not read from a scenario.
std::vector<TriedChange> tried_changes(const Case& the_case, std::span<const Change> changes,
                                       bool (*enough)(const TriedChange& tried));

// "--set batch.micro=1 (61.2 of 79.2 GiB, 4.0 % slower)".
std::string text_of(const TriedChange& tried);

// Names single changes, or else a small combination, with which a job fits that exceeds its memory.
// Empty for a Case that was not read from a scenario.
std::string fitting_advice(const Case& the_case);

// Names changes that shorten a step in which GPUs wait for their hosts, or for the busiest stage;
// empty if none was found.
std::string host_advice(const Case& the_case);
std::string stage_advice(const Case& the_case);

// How far the step's estimate moves if the speeds of NICs are drawn again; empty: not at all.
std::string other_draws(const Case& the_case);

}  // namespace windtunnel
