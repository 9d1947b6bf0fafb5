#include "report/validation/collective_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "models/base/units.hpp"
#include "report/text/markdown.hpp"
#include "report/text/table.hpp"
#include "report/validation/collective_splits.hpp"
#include "report/validation/validation_rows.hpp"
#include "validate/accuracy/collectives/network_pace.hpp"

namespace windtunnel {
namespace {

constexpr size_t kListed = 200;  // misses; more are summed up
constexpr size_t kWorstOfFamily = 5;
constexpr size_t kNameWidth = 34;

std::vector<std::string> family_cells(const ValidationFamily& family,
                                      const std::vector<std::string>& rules) {
  const bool judged = family.rows > 0;
  const auto error = [&](double share) { return judged ? percent(share) : std::string("-"); };
  std::vector<std::string> cells = {family.name,
                                    std::to_string(family.rows),
                                    std::to_string(family.fitted),
                                    error(family.median_ape),
                                    error(family.p90_ape),
                                    error(family.mape),
                                    error(family.worst.relative_error()),
                                    family.coverage90 ? percent(*family.coverage90) : "-"};
  for (const std::string& rule : rules) {
    const auto found = family.baselines.find(rule);
    cells.push_back(found == family.baselines.end() ? "-" : percent(found->second));
  }
  return cells;
}

const std::vector<std::string>& family_titles() {
  static const std::vector<std::string> titles = {"family", "points", "fitted on", "median",
                                                  "p90",    "MAPE",   "worst",     "in 90%"};
  return titles;
}

// The machine's name cut short, and a star for what was predicted from specification.
std::string console_name(const std::string& family) {
  constexpr std::string_view kSpecification = ", from specification";
  const size_t size_class = std::min(family.rfind(", below 1 MB"), family.rfind(", from 1 MB"));
  if (size_class == std::string::npos) return shortened(family, kNameWidth);
  const bool specification = family.ends_with(kSpecification);
  const size_t end = family.size() - (specification ? kSpecification.size() : 0);
  return shortened(family.substr(0, size_class), kNameWidth) +
         family.substr(size_class, end - size_class) + (specification ? " *" : "");
}

std::vector<std::string> miss_cells(const ValidationRow& row) {
  return {without_folder(row.id),
          row.family,
          row.label,
          row.note,
          format_seconds(row.measured),
          format_seconds(row.predicted),
          signed_error(row)};
}

std::string totals(const CollectivesReport& report) {
  return fmt::format("{} points judged, medians of {} rows; {} points fitted on; {} rows not used",
                     report.report.rows.size(), report.measured_rows, report.report.fitted.size(),
                     report.report.skipped.size());
}

// Families whose points are all off to one side: there the network differs, and by what ratio.
std::vector<std::string> paces_of(const ValidationReport& report) {
  std::vector<std::string> lines;
  for (const ValidationFamily& family : report.families) {
    std::vector<double> ratios;
    for (const ValidationRow& row : report.rows) {
      if (row.family == family.name && row.metric == family.metric && row.measured > 0) {
        ratios.push_back(row.predicted / row.measured);
      }
    }
    if (const auto text = pace_text(pace_of(ratios), "what is predicted")) {
      lines.push_back(fmt::format("{}: the network {}", family.name, *text));
    }
  }
  return lines;
}

std::string page_families(const ValidationReport& report) {
  const std::vector<std::string> rules = rules_of(report);
  std::vector<std::string> titles = family_titles();
  titles.insert(titles.end(), rules.begin(), rules.end());
  titles.emplace_back("worst row");
  std::string text = markdown_header(titles, 1);
  for (const ValidationFamily& family : report.families) {
    std::vector<std::string> cells = family_cells(family, rules);
    cells.push_back(without_folder(family.worst.id));
    text += markdown_row(cells);
  }
  return text;
}

// Of each family how many, and its worst.
std::string summarised_misses(const std::vector<const ValidationRow*>& misses) {
  std::vector<std::string> families;
  std::map<std::string, std::vector<const ValidationRow*>> of_family;
  for (const ValidationRow* row : misses) {
    if (of_family[row->family].empty()) families.push_back(row->family);
    of_family[row->family].push_back(row);
  }
  std::string text;
  for (const std::string& family : families) {
    const auto& rows = of_family[family];
    text += fmt::format("\n{}: {} misses.\n\n", markdown_text(family), rows.size());
    text += markdown_header(
        {"row", "family", "what", "environment", "measured", "predicted", "error"}, 4);
    for (size_t i = 0; i < std::min(kWorstOfFamily, rows.size()); ++i) {
      text += markdown_row(miss_cells(*rows[i]));
    }
  }
  return text;
}

std::string page_misses(const ValidationReport& report, double miss_above) {
  std::vector<const ValidationRow*> misses;
  for (const ValidationRow* row : worst_first(report)) {
    if (row->relative_error() > miss_above) misses.push_back(row);
  }
  std::string text = fmt::format("\n## Misses above {}\n\n{} of {} points.\n", percent(miss_above),
                                 misses.size(), report.rows.size());
  if (misses.empty()) return text;
  if (misses.size() > kListed) {
    return text + fmt::format("Of each family the {} largest.\n", kWorstOfFamily) +
           summarised_misses(misses);
  }
  text += "\n" + markdown_header(
                     {"row", "family", "what", "environment", "measured", "predicted", "error"}, 4);
  for (const ValidationRow* row : misses) text += markdown_row(miss_cells(*row));
  return text;
}

std::vector<std::string> network_cells(const std::string& machine, const std::string& environment,
                                       const FittedNetwork& network) {
  const InterconnectLaw& law = network.calibration.network;
  return {machine,
          environment,
          std::to_string(network.rows),
          fmt::format("{:.3f}", law.noise_log.value),
          fmt::format("{:.3f}", law.small_noise_log.value),
          percent(law.slow_share.value),
          fmt::format("{:.2f}", std::exp(law.slow_log.value))};
}

std::string page_networks(const CollectivesReport& report) {
  if (report.networks.empty()) return "";
  std::string text =
      "\n## What was fitted\n\n"
      "Noise: standard deviation of the logarithm of measured / predicted. Slow "
      "nodes: the share of a\nmachine's nodes that delays a job, and by what factor "
      "in the mean of the logarithm.\n\n" +
      markdown_header({"machine", "environment", "points", "noise from 1 MB", "noise below",
                       "slow nodes", "slowdown"},
                      2);
  for (const FittedNetwork& network : report.networks) {
    text += markdown_row(network_cells(network.machine, network.environment, network));
  }
  return text;
}

std::string page_skipped(const ValidationReport& report) {
  std::string text =
      fmt::format("\n## Rows that were not used\n\n{} rows.\n", report.skipped.size());
  if (report.skipped.empty()) return text;
  text += "\n" + markdown_header({"row", "reason"}, 2);
  for (size_t i = 0; i < std::min(kListed, report.skipped.size()); ++i) {
    const SkippedRow& row = report.skipped[i];
    text += markdown_row({without_folder(row.id), row.reason});
  }
  if (report.skipped.size() <= kListed) return text;
  text += "\nAll of them, by reason:\n\n" + markdown_header({"reason", "rows"}, 1);
  for (const auto& [reason, rows, first] : reasons_of(report)) {
    text += markdown_row({reason, std::to_string(rows)});
  }
  return text;
}

}  // namespace

std::string networks_text(const CollectivesReport& report, std::size_t width) {
  if (report.networks.empty()) return "";
  TextTable table{{{"fitted"},
                   {"environment"},
                   {"points", Align::right},
                   {"noise", Align::right},
                   {"below 1 MB", Align::right},
                   {"slow nodes", Align::right},
                   {"slowdown", Align::right}},
                  {}};
  for (const FittedNetwork& network : report.networks) {
    table.rows.push_back(network_cells(shortened(network.machine, kNameWidth),
                                       shortened(network.environment, 32), network));
  }
  return table_text(table, width) +
         "noise: standard deviation of the logarithm of measured / predicted. slow nodes: share of "
         "nodes\nthat delay a job, and by what factor in the mean of the logarithm.\n";
}

std::string collectives_text(const CollectivesReport& report, int worst, std::size_t width) {
  const std::vector<std::string> rules = rules_of(report.report);
  TextTable families;
  for (const std::string& title : family_titles()) {
    families.columns.push_back({title, families.columns.empty() ? Align::left : Align::right});
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    families.columns.push_back({std::string(1, static_cast<char>('A' + i)), Align::right});
  }
  for (const ValidationFamily& family : report.report.families) {
    if (family.rows == 0) continue;  // all of it was fitted on
    families.rows.push_back(family_cells(family, rules));
    families.rows.back().front() = console_name(family.name);
  }
  std::string text = families.rows.empty() ? "" : table_text(families, width);
  text +=
      "\nmedian to worst: |predicted - measured| / measured of points, each the median over "
      "repeats and\nplacements. in 90%: measured values inside the 90 % interval. *: from "
      "specification alone.\n";
  for (size_t i = 0; i < rules.size(); ++i) {
    text += fmt::format("{}: MAPE of {}\n", static_cast<char>('A' + i), rules[i]);
  }
  const std::vector<std::string> paces = paces_of(report.report);
  if (!paces.empty()) text += "\noff to one side:\n";
  for (const std::string& line : paces) text += "  " + line + "\n";
  TextTable misses{{{"worst points"},
                    {"measured", Align::right},
                    {"predicted", Align::right},
                    {"error", Align::right},
                    {"machine"},
                    {"what"}},
                   {}};
  for (const ValidationRow* row : worst_first(report.report)) {
    if (worst-- <= 0) break;
    misses.rows.push_back({without_folder(row->id), format_seconds(row->measured),
                           format_seconds(row->predicted), signed_error(*row),
                           shortened(row->family.substr(0, row->family.find(',')), 26),
                           row->label});
  }
  if (!misses.rows.empty()) text += "\n" + table_text(misses, width);
  if (!report.networks.empty()) text += "\n" + networks_text(report, width);
  if (!report.summary.machines.empty()) text += "\n" + splits_text(report.summary, width);
  text += "\n" + totals(report) + "\n";
  for (const auto& [reason, rows, first] : reasons_of(report.report)) {
    text += fmt::format("  {}: {}, first {}\n", rows, reason, first);
  }
  return text;
}

std::string collectives_page(const CollectivesReport& report, const std::string& command,
                             double miss_above) {
  std::string text = fmt::format(
      "# Predicted against measured collectives\n\nMade by `{}`; not written by hand.\n\n"
      "A point is the median over repeats, placements and variants of one collective of one size "
      "on one\nmachine and environment. Errors are |predicted - measured| / measured. \"in 90%\" "
      "is the share of\npoints inside the predicted 90 % interval. Points that were fitted on are "
      "counted and not judged.\nThe last columns are the MAPE of simpler rules: one alpha-beta "
      "law per machine and collective on\nthe rows that were fitted on, with the steps of a ring "
      "or a tree, and what the other rows of the same\npoint say of each (noise floor).\n\n{}.\n",
      command, totals(report));
  text +=
      "\nColumns of a table of rows: machine, gpu, gpus (ranks), nodes (may be empty), network, "
      "collective (the\ntool's name), bytes (its size column), time_us; optional source, "
      "algbw_GBps, busbw_GBps, placement\n(in or out), nccl_version, dtype, notes (what stands "
      "before a semicolon is the environment), check\n(inconsistent: not used).\n";
  text += page_splits(report.summary);
  text += "\n## Families\n\n" + page_families(report.report) + page_networks(report);
  return text + page_assumed(report.report, "points") + page_misses(report.report, miss_above) +
         page_skipped(report.report);
}

}  // namespace windtunnel
