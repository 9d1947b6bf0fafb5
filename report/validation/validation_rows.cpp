#include "report/validation/validation_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace windtunnel {
namespace {

std::string if_judged(const ValidationFamily& family, double share) {
  return family.rows > 0 ? percent(share) : "-";
}

// The names of all simpler rules, in order.
std::set<std::string> rules_of(const ValidationReport& report) {
  std::set<std::string> names;
  for (const ValidationFamily& family : report.families) {
    for (const auto& [name, mape] : family.baselines) names.insert(name);
  }
  return names;
}

std::string letter(std::size_t rule) {
  return std::string(1, static_cast<char>('A' + static_cast<char>(rule)));
}

TextTable notes_table(const ValidationReport& report) {
  TextTable notes = lines_table({"family", "metric", "note"});
  for (const ValidationFamily& family : report.families) {
    if (!family.note.empty()) notes.rows.push_back({family.name, family.metric, family.note});
  }
  return notes;
}

}  // namespace

std::string family_rows(const ValidationFamily& family) {
  return std::to_string(family.rows);
}

std::string family_fitted(const ValidationFamily& family) {
  return std::to_string(family.fitted);
}

std::string family_mape(const ValidationFamily& family) {
  return if_judged(family, family.mape);
}

std::string family_median(const ValidationFamily& family) {
  return if_judged(family, family.median_ape);
}

std::string family_p90(const ValidationFamily& family) {
  return if_judged(family, family.p90_ape);
}

std::string family_worst(const ValidationFamily& family) {
  return if_judged(family, family.worst.relative_error());
}

std::string family_worst_row(const ValidationFamily& family) {
  return without_folder(family.worst.id);
}

std::string family_coverage(const ValidationFamily& family) {
  return family.coverage90 ? percent(*family.coverage90) : "-";
}

std::string family_best_rule(const ValidationFamily& family) {
  const auto rule = best_rule(family);
  return rule ? fmt::format("{} ({})", percent(rule->second), rule->first) : "-";
}

std::vector<FamilyColumn> rule_columns(const ValidationReport& report) {
  std::vector<FamilyColumn> columns;
  for (const std::string& rule : rules_of(report)) {
    columns.push_back(
        {{rule, Align::right, letter(columns.size())}, [rule](const ValidationFamily& family) {
           const auto mape = family.baselines.find(rule);
           return mape == family.baselines.end() ? "-" : percent(mape->second);
         }});
  }
  return columns;
}

TextTable rules_table(const ValidationReport& report) {
  TextTable rules = lines_table({"letter", "rule"});
  for (const std::string& rule : rules_of(report)) {
    rules.rows.push_back({letter(rules.rows.size()), rule});
  }
  return rules;
}

std::string row_place(const ValidationRow& row) {
  return without_folder(row.id);
}

std::string signed_error(const ValidationRow& row) {
  return (row.predicted < row.measured ? "-" : "+") + percent(row.relative_error());
}

std::vector<RowColumn> value_columns(std::string (*text)(const ValidationRow&, double),
                                     Align align) {
  return {{{"measured", align}, [=](const auto& row) { return text(row, row.measured); }},
          {{"predicted", align}, [=](const auto& row) { return text(row, row.predicted); }}};
}

std::vector<const ValidationRow*> worst_first(const ValidationReport& report, double more_than,
                                              std::size_t most) {
  std::vector<const ValidationRow*> rows;
  for (const ValidationRow& row : report.rows) {
    if (row.relative_error() > more_than) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ValidationRow* a, const ValidationRow* b) {
    return a->relative_error() > b->relative_error();
  });
  rows.resize(std::min(rows.size(), most));
  return rows;
}

TextTable reasons_table(const ValidationReport& report) {
  std::map<std::string, std::pair<int, std::string>> by_reason;
  for (const SkippedRow& row : report.skipped) {
    auto& [rows, first] = by_reason[row.reason];
    if (rows++ == 0) first = without_folder(row.id);
  }
  std::vector<std::pair<std::string, std::pair<int, std::string>>> reasons(by_reason.begin(),
                                                                           by_reason.end());
  std::ranges::stable_sort(reasons, std::greater(),
                           [](const auto& reason) { return reason.second.first; });
  TextTable table{{{"reason"}, {"rows", Align::right}, {"first"}}, {}};
  for (const auto& [reason, found] : reasons) {
    table.rows.push_back({reason, std::to_string(found.first), found.second});
  }
  return table;
}

TextTable skipped_table(const ValidationReport& report) {
  TextTable table = lines_table({"row", "reason"});
  for (const SkippedRow& row : report.skipped) {
    table.rows.push_back({without_folder(row.id), row.reason});
  }
  return table;
}

TextTable assumed_table(const ValidationReport& report) {
  TextTable table = lines_table({"family", "assumed"});
  std::set<std::string> told;
  for (const ValidationFamily& family : report.families) {
    if (family.assumed.empty() || !told.insert(family.name).second) continue;
    std::vector<std::string> parts;
    for (const auto& [what, count] : family.assumed) {
      parts.push_back(fmt::format("{} ({})", what, count));
    }
    table.rows.push_back({family.name, fmt::format("{}", fmt::join(parts, "; "))});
  }
  return table;
}

Document judged_document(std::string_view form, const ValidationReport& report) {
  const TextTable reasons = reasons_table(report);
  TextTable counts{{reasons.columns[0], reasons.columns[1]}, {}};
  for (const auto& cells : reasons.rows) counts.rows.push_back({cells[0], cells[1]});
  return {form,
          {{"judged", std::to_string(report.rows.size())},
           {"fitted", std::to_string(report.fitted.size())},
           {"labels", std::to_string(report.labels.size())},
           {"skipped", std::to_string(report.skipped.size())},
           {"rules", rules_table(report)},
           {"rule_names", fmt::format("{}", fmt::join(rules_of(report), "; "))},
           {"reasons", reasons},
           {"reason_counts", counts},
           {"not_used", skipped_table(report)},
           {"assumed", assumed_table(report)},
           {"notes", notes_table(report)}}};
}

void add_misses(Document& document, TextTable misses, double miss_above) {
  document["miss_above"] = percent(miss_above);
  document["missed"] = std::to_string(misses.rows.size());
  document["misses"] = std::move(misses);
}

std::string without_folder(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::optional<std::pair<std::string, double>> best_rule(const ValidationFamily& family) {
  std::optional<std::pair<std::string, double>> best;
  for (const auto& [name, mape] : family.baselines) {
    if (name == "noise floor" || !std::isfinite(mape) || (best && mape >= best->second)) continue;
    best = {name, mape};
  }
  return best;
}

std::string percent(double share) {
  if (share == 0) return "0%";
  if (share > 100) return ">9999%";  // a rule that has run away
  return fmt::format("{:.{}f}%", share * 100, std::abs(share) < 0.0995 ? 1 : 0);
}

}  // namespace windtunnel
