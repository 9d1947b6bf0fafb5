// What a plan tried of each question, of which it took one: layouts, spares, snapshots, and what
// happens without a spare.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/text/table.hpp"
#include "sim/study/plan/make_plan.hpp"

namespace windtunnel {

inline constexpr const char* kLayoutChoice = "layout";
inline constexpr const char* kSnapshotsChoice = "snapshots";

struct PlanChoice {
  std::string name;                                                // "spares"
  std::string title;                                               // of its table and its chart
  std::string column;                                              // what names its options
  std::string note;                                                // how it was chosen
  std::vector<std::pair<std::string, const PlanOption*>> options;  // of the plan
  size_t taken = 0;                                                // of the options

  // Of the others the fastest training. Nothing: none of them was simulated.
  std::optional<size_t> next_best() const;
};
// Which interval of the tier on storage is taken.
std::string storage_interval_note();

// Those with something to choose between.
std::vector<PlanChoice> choices_of(const PlanReport& plan);

// By what a plan chooses by; such a difference is not written as a number, which would be chance.
bool is_as_good(const PlanOption& taken, const PlanOption& instead);
// So much longer than the plan that its days are no number that anybody acts on.
bool is_hopeless(const PlanOption& taken, const PlanOption& instead);

// "tp 4 x pp 4 x dp 32, zero1"; and with its schedule.
std::string layout_axes(const PlanOption& option);
std::string layout_name(const PlanOption& option);
std::string schedule_name(const PlanOption& option);

// Every option of a choice, a row each.
TextTable choice_table(const PlanReport& plan, const PlanChoice& choice);
// Of each choice but the layout, whose next best is the runner-up: the next best option, and what
// it costs to take it instead.
TextTable instead_table(const PlanReport& plan);

}  // namespace windtunnel
