#include "report/validation/validation_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "report/text/markdown.hpp"

namespace windtunnel {

std::vector<const ValidationRow*> worst_first(const ValidationReport& report) {
  std::vector<const ValidationRow*> rows;
  for (const ValidationRow& row : report.rows) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](const ValidationRow* a, const ValidationRow* b) {
    return a->relative_error() > b->relative_error();
  });
  return rows;
}

std::vector<SkipReason> reasons_of(const ValidationReport& report) {
  std::map<std::string, SkipReason> by_reason;
  for (const SkippedRow& row : report.skipped) {
    SkipReason& reason = by_reason[row.reason];
    if (reason.rows++ == 0) reason = {row.reason, 1, without_folder(row.id)};
  }
  std::vector<SkipReason> reasons;
  for (const auto& [text, reason] : by_reason) reasons.push_back(reason);
  std::ranges::stable_sort(reasons, std::greater(), &SkipReason::rows);
  return reasons;
}

std::string page_assumed(const ValidationReport& report, const std::string& rows) {
  std::set<std::string> told;
  std::string lines;
  for (const ValidationFamily& family : report.families) {
    if (family.assumed.empty() || !told.insert(family.name).second) continue;
    std::vector<std::string> parts;
    for (const auto& [what, count] : family.assumed) {
      parts.push_back(fmt::format("{} ({})", what, count));
    }
    lines += fmt::format("- {}: {}\n", markdown_text(family.name),
                         markdown_text(fmt::format("{}", fmt::join(parts, "; "))));
  }
  if (lines.empty()) return "";
  return fmt::format("\n## What the sources do not say\n\nAssumed, in so many {}:\n\n", rows) +
         lines;
}

std::string without_folder(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::vector<std::string> rules_of(const ValidationReport& report) {
  std::set<std::string> names;
  for (const ValidationFamily& family : report.families) {
    for (const auto& [name, mape] : family.baselines) names.insert(name);
  }
  return {names.begin(), names.end()};
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

std::string shortened(const std::string& text, size_t width) {
  if (text.size() <= width) return text;
  const auto inside_character = [&](size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  const size_t tail = width / 3;
  size_t head_end = width - tail - 1;
  size_t tail_start = text.size() - tail;
  while (head_end > 0 && inside_character(head_end)) --head_end;
  while (inside_character(tail_start)) ++tail_start;
  return text.substr(0, head_end) + "…" + text.substr(tail_start);
}

std::string signed_error(const ValidationRow& row) {
  return (row.predicted < row.measured ? "-" : "+") + percent(row.relative_error());
}

}  // namespace windtunnel
