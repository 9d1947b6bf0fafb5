// The columns that a comparison of points can have, for console and page: of the iteration always,
// of protection and goodput where the points have campaigns.
//
// Of a stack of snapshot tiers one copy is shown: of those that are not on storage, which survives
// everything, the one that survives best. Saving often and surviving a lost node is what protection
// schemes differ in. A stack of storage alone shows that.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "report/figures/comparison.hpp"

namespace windtunnel {

struct ComparedCell {
  std::string text;
  double value = std::numeric_limits<double>::quiet_NaN();  // not a number: a word, or nothing
};

enum class Better { neither, lower, higher };
const char* to_string(Better better);  // "", "lower", "higher"

struct ComparedColumn {
  const char* title;
  Better better;
  const char* help;
  ComparedCell (*cell)(const Record& record);
};

double peak_memory_bytes(const IterationReport& report);

// The tier that stands for the stack, see above; null where there is none.
const TierReport* best_copy(const Record& record);

// The first is the step time.
const std::vector<ComparedColumn>& iteration_columns();
// Empty where no varied key is one of snapshots, failures, recovery or no campaign has tiers.
std::vector<const ComparedColumn*> protection_columns(const Comparison& comparison);
const ComparedColumn& goodput_column();
const ComparedColumn& days_column();

bool has_steps(const Comparison& comparison);  // to a target quality
bool has_campaign(const Comparison& comparison);
// Whether all that is varied is protection: then points rank by goodput, not by step time, and what
// protection does not change is no news.
bool varies_protection_only(const Comparison& comparison);

}  // namespace windtunnel
