// A titled part of a summary has a table, and rows below it.
#pragma once

#include <string>
#include <vector>

#include "report/text/table.hpp"

namespace windtunnel {

struct SummaryRow {
  std::string label;
  std::string value;
  std::string detail{};  // of a figure, in small type below it
};

struct SummarySection {
  std::string title;
  std::vector<SummaryRow> rows;
  TextTable table{};  // stands above the rows; without columns: none
};

}  // namespace windtunnel
