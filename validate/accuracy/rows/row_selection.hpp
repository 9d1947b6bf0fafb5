// Selects the rows of measured files that are judged, fitted on, or unusable: one rule for all
// kinds of rows. A kind's File has a table, rows with id and table_row, and unusable rows.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "traces/text/csv.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

template <class File>
const auto& rows_in(const File& file) {
  if constexpr (requires { file.runs; }) {
    return file.runs;
  } else {
    return file.rows;
  }
}

template <class File>
const std::vector<UnusableRow>& unusable_in(const File& file) {
  if constexpr (requires { file.unusable; }) {
    return file.unusable;
  } else {
    return file.unreadable;
  }
}

template <class File>
struct RowChoice {
  std::optional<RowFilter> where = {};      // judged rows; none: all
  std::optional<RowFilter> fit_where = {};  // rows to fit on, regardless of `where`
  // Files to fit on and never judge; if there are any, `fit_where` applies only to them.
  std::span<const File> calibrate_on = {};
  bool all = false;  // also rows neither judged nor fitted on: others may be predicted from them
};

template <class File>
struct SelectedRow {
  const File* file = nullptr;
  const typename std::decay_t<decltype(rows_in(std::declval<File>()))>::value_type* run = nullptr;
  bool fit = false;
  bool judged = false;  // `where` passes it, whether or not it is fitted on
};

// Returns rows in the order of the files, after rows of other files to fit on; a row selected for
// both appears once. Adds unusable rows to `skipped`, once each: those that a filter passes, and
// malformed lines, which no filter can judge. Throws Error if a filter does not fit a table.
template <class File>
std::vector<SelectedRow<File>> select_rows(const std::vector<File>& files,
                                           const RowChoice<File>& choice,
                                           std::vector<SkippedRow>& skipped) {
  std::vector<SelectedRow<File>> selected;
  std::set<std::string> elsewhere;
  std::set<std::pair<std::string, std::string>> listed;
  const auto passes = [](const std::optional<RowFilter>& filter, const File& file,
                         std::size_t row) { return !filter || filter->matches(file.table, row); };
  const auto skip = [&](const File& file, const auto& is_wanted) {
    for (const UnusableRow& row : unusable_in(file)) {
      if (row.table_row && !is_wanted(*row.table_row)) continue;
      if (listed.emplace(row.id, row.reason).second) skipped.push_back({row.id, row.reason});
    }
  };
  for (const File& file : choice.calibrate_on) {
    if (choice.fit_where) choice.fit_where->check(file.table);
    skip(file, [&](std::size_t row) { return passes(choice.fit_where, file, row); });
    for (const auto& row : rows_in(file)) {
      const bool fit = passes(choice.fit_where, file, row.table_row);
      if ((fit || choice.all) && elsewhere.insert(row.id).second) {
        selected.push_back({&file, &row, fit, false});
      }
    }
  }
  const bool fits_here = choice.fit_where && choice.calibrate_on.empty();
  for (const File& file : files) {
    if (choice.where) choice.where->check(file.table);
    if (fits_here) choice.fit_where->check(file.table);
    const auto is_fit = [&](std::size_t row) {
      return fits_here && choice.fit_where->matches(file.table, row);
    };
    skip(file, [&](std::size_t row) { return passes(choice.where, file, row) || is_fit(row); });
    for (const auto& row : rows_in(file)) {
      if (elsewhere.contains(row.id)) continue;
      const bool fit = is_fit(row.table_row);
      const bool judged = passes(choice.where, file, row.table_row);
      if (fit || judged || choice.all) selected.push_back({&file, &row, fit, judged});
    }
  }
  return selected;
}

}  // namespace windtunnel
