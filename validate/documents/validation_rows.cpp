#include "validate/documents/validation_rows.hpp"

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

std::string best_rule_text(const ValidationFamily& family) {
  const auto rule = best_rule(family);
  return rule ? fmt::format("{} ({})", percent(rule->second), rule->first) : "-";
}

std::string letter(std::size_t rule) {
  return std::string(1, static_cast<char>('A' + static_cast<char>(rule)));
}

TextTable notes_table(const ValidationReport& report) {
  TextTable notes = titled_table("family | metric | note");
  for (const ValidationFamily& family : report.families) {
    if (!family.note.empty()) notes.rows.push_back({family.name, family.metric, family.note});
  }
  return notes;
}

TextTable rules_table(const ValidationReport& report) {
  TextTable rules = titled_table("letter | rule");
  for (const std::string& rule : rules_of(report)) {
    rules.rows.push_back({letter(rules.rows.size()), rule});
  }
  return rules;
}

TextTable skipped_table(const ValidationReport& report) {
  return table_of("row | reason", report.skipped, [&](const SkippedRow& row) -> TableRow {
    return {without_folder(row.id), row.reason};
  });
}

TextTable assumed_table(const ValidationReport& report) {
  TextTable table = titled_table("family | assumed");
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

}  // namespace

TextTable families_table(const ValidationReport& report, const FamilyFilter& wanted,
                         const std::vector<FamilyColumn>& more) {
  const auto count = [](int ValidationFamily::*rows) {
    return [rows](const auto& family) { return std::to_string(family.*rows); };
  };
  const auto error = [](double ValidationFamily::*share) {
    return [share](const auto& family) { return if_judged(family, family.*share); };
  };
  std::vector<FamilyColumn> columns = {
      {{"family"}, &ValidationFamily::name},
      {{"metric"}, &ValidationFamily::metric},
      {{"rows"}, count(&ValidationFamily::rows)},
      {{"fitted"}, count(&ValidationFamily::fitted)},
      {{"mape"}, error(&ValidationFamily::mape)},
      {{"median"}, error(&ValidationFamily::median_ape)},
      {{"p90"}, error(&ValidationFamily::p90_ape)},
      {{"worst"}, [](const auto& of) { return if_judged(of, of.worst.relative_error()); }},
      {{"worst row"}, [](const auto& of) { return without_folder(of.worst.id); }},
      {{"tau"}, [](const auto& of) { return tau_text(of.kendall_tau); }},
      {{"group tau"},
       [](const auto& of) { return of.ranking ? tau_text(of.ranking->kendall_tau) : "-"; }},
      {{"coverage"}, [](const auto& of) { return of.coverage90 ? percent(*of.coverage90) : "-"; }},
      {{"best rule"}, best_rule_text},
      {{"fitted mape"},
       [](const auto& of) { return of.fitted > 0 ? percent(of.fitted_mape) : "-"; }}};
  columns.insert(columns.end(), more.begin(), more.end());
  std::size_t rules = 0;
  for (const std::string& rule : rules_of(report)) {
    columns.push_back({{rule, Align::right, letter(rules++)}, [rule](const auto& family) {
                         const auto mape = family.baselines.find(rule);
                         return mape == family.baselines.end() ? "-" : percent(mape->second);
                       }});
  }
  std::vector<const ValidationFamily*> families;
  for (const ValidationFamily& family : report.families) {
    if (!wanted || wanted(family)) families.push_back(&family);
  }
  return table_of(families, columns);
}

std::string signed_error(const ValidationRow& row) {
  return (row.predicted < row.measured ? "-" : "+") + percent(row.relative_error());
}

TextTable rows_table(const Rows& rows, std::string (*text)(const ValidationRow&, double),
                     const std::vector<RowColumn>& more) {
  std::vector<RowColumn> columns = {
      {{"row"}, [](const auto& row) { return without_folder(row.id); }},
      {{"family"}, &ValidationRow::family},
      {{"what"}, &ValidationRow::label},
      {{"note"}, &ValidationRow::note},
      {{"measured"}, [text](const auto& row) { return text(row, row.measured); }},
      {{"predicted"}, [text](const auto& row) { return text(row, row.predicted); }},
      {{"error"}, signed_error}};
  columns.insert(columns.end(), more.begin(), more.end());
  return table_of(rows, columns);
}

Rows worst_first(const ValidationReport& report, double more_than, std::size_t most) {
  Rows rows;
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
  TextTable table = titled_table("reason | rows > | first");
  for (const auto& [reason, found] : reasons) {
    table.rows.push_back({reason, std::to_string(found.first), found.second});
  }
  return table;
}

Document judged_document(std::string_view form, const ValidationReport& report) {
  const TextTable reasons = reasons_table(report);
  TextTable counts{{reasons.columns[0], reasons.columns[1]}, {}};
  for (const auto& cells : reasons.rows) counts.rows.push_back({cells[0], cells[1]});
  return {form,
          {{"families", families_table(report)},
           {"judged", std::to_string(report.rows.size())},
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

std::string tau_text(const std::optional<double>& tau) {
  return tau ? fmt::format("{:.2f}", *tau) : "-";
}

std::string percent(double share) {
  if (share == 0) return "0%";
  if (share > 100) return ">9999%";  // a rule that diverged
  return fmt::format("{:.{}f}%", share * 100, std::abs(share) < 0.0995 ? 1 : 0);
}

}  // namespace windtunnel
