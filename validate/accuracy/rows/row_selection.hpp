// Which rows of measured files are judged, which are fitted on, and which cannot be used: one rule
// for all kinds of rows. A kind's file has a table, rows with id and table_row, and those that
// cannot be used.
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
  std::optional<RowFilter> fit_where = {};  // rows to fit on, whatever `where` says
  // Fitted on and never judged; `fit_where`, where there is one, then applies to these only.
  std::span<const File> calibrate_on = {};
  bool all = false;  // also the rows that are neither: others are predicted from them
};

template <class File>
struct SelectedRow {
  const File* file = nullptr;
  const typename std::decay_t<decltype(rows_in(std::declval<File>()))>::value_type* run = nullptr;
  bool fit = false;
  bool judged = false;  // `where` lets it pass, whether or not it is fitted on
};

// In the order of the files, those to fit on from elsewhere first; a row that is named for both is
// there once. Rows that cannot be used go to `skipped`, each once: those that a filter lets pass
// and lines that are no rows, which no filter can tell. Throws Error where a filter does not fit a
// table.
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
