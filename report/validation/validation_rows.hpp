// What tables and pages of predicted rows have in common: errors, names, reasons.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// Largest relative error first; ties in the order of the rows.
std::vector<const ValidationRow*> worst_first(const ValidationReport& report);

// Why rows were not used, how many for each reason and the first of them; most first.
struct SkipReason {
  std::string reason;
  int rows = 0;
  std::string first;  // its place, without folders
  bool operator==(const SkipReason&) const = default;
};
std::vector<SkipReason> reasons_of(const ValidationReport& report);

// The part of a page about what the sources do not say, and in how many `rows` ("points") it was
// assumed. Empty where nothing was.
std::string page_assumed(const ValidationReport& report, const std::string& rows);

// "/data/runs.csv:12" -> "runs.csv:12"
std::string without_folder(const std::string& path);

// The names of all simpler rules, in order.
std::vector<std::string> rules_of(const ValidationReport& report);

// Of a family's simpler rules the one of the least error, with it. The noise floor is no rule: it
// is what a point's other rows say of it.
std::optional<std::pair<std::string, double>> best_rule(const ValidationFamily& family);

// "8.1%", "12%": what fits four columns.
std::string percent(double share);

// The row's error with its sign.
std::string signed_error(const ValidationRow& row);

// At most `width` characters, the middle left out: names of one kind differ at their ends. Counts
// bytes, so that a name with others than ASCII may come out shorter.
std::string shortened(const std::string& text, size_t width);

}  // namespace windtunnel
