// Finds a row of a section by its label, for tests of sections.
#pragma once

#include <algorithm>
#include <string>

#include "report/summary/summary.hpp"

namespace windtunnel {

inline std::string row(const SummarySection& section, const std::string& label) {
  const auto found = std::ranges::find(section.rows, label, &SummaryRow::label);
  return found == section.rows.end() ? "no such row" : found->value;
}

}  // namespace windtunnel
