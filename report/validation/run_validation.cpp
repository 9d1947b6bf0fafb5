#include "report/validation/run_validation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <vector>

#include "models/base/quantile.hpp"
#include "report/text/markdown.hpp"
#include "report/text/table.hpp"
#include "report/validation/validation_rows.hpp"

namespace windtunnel {
namespace {

constexpr size_t kWidth = 100;
constexpr std::string_view kStep = "step_s";

std::string optional_percent(const std::optional<double>& share) {
  return share ? percent(*share) : "-";
}

std::string optional_tau(const std::optional<double>& tau) {
  return tau ? fmt::format("{:.2f}", *tau) : "-";
}

std::string metric_name(const std::string& metric) {
  if (metric == kStep) return "step";
  return metric == "memory_bytes" ? "memory" : metric;
}

std::string value_text(const ValidationRow& row, double value) {
  return row.metric == kStep ? fmt::format("{:.4g} s", value)
                             : fmt::format("{:.1f} GB", value / 1e9);
}

std::string letter(size_t rule) {
  return std::string(1, static_cast<char>('A' + static_cast<char>(rule)));
}

// The cells from MAPE to those of fitted rows.
std::vector<std::string> error_cells(const ValidationFamily& family,
                                     const std::vector<std::string>& rules) {
  const bool judged = family.rows > 0;
  const auto error = [&](double share) { return judged ? percent(share) : "-"; };
  std::vector<std::string> cells = {
      error(family.mape),
      error(family.median_ape),
      error(family.p90_ape),
      error(family.worst.relative_error()),
      optional_tau(family.kendall_tau),
      family.ranking ? optional_tau(family.ranking->kendall_tau) : "-",
      optional_percent(family.coverage90)};
  for (const std::string& rule : rules) {
    const auto mape = family.baselines.find(rule);
    cells.push_back(mape == family.baselines.end() ? "-" : percent(mape->second));
  }
  cells.push_back(std::to_string(family.fitted));
  cells.push_back(family.fitted > 0 ? percent(family.fitted_mape) : "-");
  return cells;
}

std::string label_text(const MemoryLabels& labels) {
  const double rows = labels.rows();
  return fmt::format(
      "out of memory or not: {} of {} right ({}); {} ({}) missed, {} ({}) false alarms",
      labels.right, labels.rows(), percent(labels.right / rows), labels.missed,
      percent(labels.missed / rows), labels.false_alarms, percent(labels.false_alarms / rows));
}

std::string ranking_text(const GroupRanking& ranking) {
  return fmt::format(
      "layouts of {} jobs, {} pairs; predicted best slower than the best by {} (median), {} "
      "(worst)",
      ranking.groups, ranking.pairs, percent(ranking.median_regret), percent(ranking.worst_regret));
}

// Line by line, the table of all families; the first is the header.
std::vector<std::string> family_lines(const ValidationReport& report,
                                      const std::vector<std::string>& rules) {
  TextTable table;
  table.columns = {{"family"},
                   {"blind", Align::right},
                   {"MAPE", Align::right},
                   {"median", Align::right},
                   {"p90", Align::right},
                   {"worst", Align::right},
                   {"tau", Align::right},
                   {"in groups", Align::right},
                   {"in 90%", Align::right}};
  for (size_t rule = 0; rule < rules.size(); ++rule) {
    table.columns.push_back({letter(rule), Align::right});
  }
  table.columns.push_back({"fitted", Align::right});
  table.columns.push_back({"MAPE", Align::right});
  for (const ValidationFamily& family : report.families) {
    std::vector<std::string> cells = {"  " + metric_name(family.metric),
                                      std::to_string(family.rows)};
    for (std::string& cell : error_cells(family, rules)) cells.push_back(std::move(cell));
    table.rows.push_back(std::move(cells));
  }
  std::vector<std::string> lines;
  std::istringstream text(table_text(table));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// Each family's name with the lines of its metrics below.
std::string runs_table(const ValidationReport& report, const std::vector<std::string>& rules) {
  const std::vector<std::string> lines = family_lines(report, rules);
  std::vector<std::string> names;
  std::map<std::string, std::string> below;
  for (size_t i = 0; i < report.families.size(); ++i) {
    const ValidationFamily& family = report.families[i];
    if (below.count(family.name) == 0) names.push_back(family.name);
    std::string& text = below[family.name];
    if (family.rows + family.fitted > 0) text += lines[i + 1] + "\n";
    if (family.ranking) text += fmt::format("  {}\n", ranking_text(*family.ranking));
    if (family.out_of_memory) text += fmt::format("  {}\n", label_text(*family.out_of_memory));
  }
  std::string text = lines.front() + "\n";
  for (const std::string& name : names) text += shortened(name, kWidth) + "\n" + below[name];
  text +=
      "\nMAPE to worst: mean, median, 90th percentile, largest |predicted - measured| / measured.\n"
      "tau: rank correlation (Kendall); in groups: among the layouts of one job whose measured\n"
      "values differ by more than 10 %. in 90%: measured values inside the 90 % interval. fitted:\n"
      "rows that a number which predicts them was fitted on, and their MAPE.\n";
  for (size_t rule = 0; rule < rules.size(); ++rule) {
    text += fmt::format("{}: MAPE of a simpler rule, {}\n", letter(rule), rules[rule]);
  }
  return text;
}

std::string worst_text(const ValidationReport& report, int worst, std::size_t width) {
  TextTable table{{{"worst rows"},
                   {"measured", Align::right},
                   {"predicted", Align::right},
                   {"error", Align::right},
                   {"what"}},
                  {}};
  for (const ValidationRow* row : worst_first(report)) {
    if (worst-- <= 0) break;
    table.rows.push_back({shortened(without_folder(row->id), 32), value_text(*row, row->measured),
                          value_text(*row, row->predicted), signed_error(*row),
                          shortened(row->label, 33)});
  }
  return table.rows.empty() ? "" : "\n" + table_text(table, width);
}

std::string skipped_text(const ValidationReport& report) {
  constexpr size_t kReasons = 12;
  const std::vector<SkipReason> reasons = reasons_of(report);
  std::string text;
  for (size_t i = 0; i < reasons.size() && i < kReasons; ++i) {
    const std::string first = fmt::format(", first {}", reasons[i].first);
    const size_t room = kWidth - 10 - std::min<size_t>(first.size(), kWidth / 2);
    text += fmt::format("  {}: {}{}\n", reasons[i].rows, shortened(reasons[i].reason, room), first);
  }
  if (reasons.size() > kReasons) {
    text += fmt::format("  and {} more reasons: --json and --markdown name every row\n",
                        reasons.size() - kReasons);
  }
  return text;
}

// --- the page --------------------------------------------------------------------------------

std::string page_metric(const ValidationReport& report, const std::string& metric,
                        const std::vector<std::string>& rules) {
  std::vector<std::string> titles = {"family", "blind rows", "MAPE",          "median", "p90",
                                     "worst",  "tau",        "tau in groups", "in 90 %"};
  titles.insert(titles.end(), rules.begin(), rules.end());
  titles.insert(titles.end(), {"fitted rows", "their MAPE", "worst blind row"});
  std::string lines;
  for (const ValidationFamily& family : report.families) {
    if (family.metric != metric || family.rows + family.fitted == 0) continue;
    std::vector<std::string> cells = {family.name, std::to_string(family.rows)};
    for (std::string& cell : error_cells(family, rules)) cells.push_back(std::move(cell));
    cells.push_back(without_folder(family.worst.id));
    lines += markdown_row(cells);
  }
  return lines.empty() ? "No row.\n" : markdown_header(titles, 1) + lines;
}

std::string page_labels(const ValidationReport& report) {
  std::string lines;
  for (const ValidationFamily& family : report.families) {
    if (!family.out_of_memory) continue;
    const MemoryLabels& labels = *family.out_of_memory;
    const double rows = labels.rows();
    const auto cell = [&](int count) {
      return fmt::format("{} ({})", count, percent(count / rows));
    };
    lines += markdown_row({family.name, std::to_string(labels.rows()), cell(labels.right),
                           cell(labels.missed), cell(labels.false_alarms)});
  }
  if (lines.empty()) return "";
  return "\n## Out of memory or not\n\n" +
         markdown_header({"family", "rows", "right", "missed", "false alarms"}, 1) + lines;
}

std::string page_ranking(const ValidationReport& report) {
  std::string lines;
  for (const ValidationFamily& family : report.families) {
    if (!family.ranking) continue;
    const GroupRanking& ranking = *family.ranking;
    lines += markdown_row({family.name, std::to_string(ranking.groups),
                           std::to_string(ranking.pairs), optional_tau(ranking.kendall_tau),
                           percent(ranking.median_regret), percent(ranking.worst_regret)});
  }
  if (lines.empty()) return "";
  return "\n## Ranking the layouts of one job\n\nA job is a model with its sequence length, on as "
         "many GPUs, with one global batch. What was measured\nseveral times counts once, by its "
         "median. Pairs differ by more than 10 % as measured. Regret: how much\nslower the layout "
         "that is predicted to be fastest was than the fastest.\n\n" +
         markdown_header({"family", "jobs", "pairs", "tau", "median regret", "worst regret"}, 1) +
         lines;
}

std::string page_missed_runs(const ValidationReport& report, double miss_above) {
  std::string lines;
  int count = 0;
  for (const ValidationRow& row : report.rows) {
    if (row.relative_error() <= miss_above) continue;
    ++count;
    lines +=
        markdown_row({without_folder(row.id), row.family, row.label, value_text(row, row.measured),
                      value_text(row, row.predicted), signed_error(row), row.note});
  }
  std::string text = fmt::format("\n## Misses above {}\n\n{} of {} rows.\n", percent(miss_above),
                                 count, report.rows.size());
  if (count == 0) return text;
  return text + "\n" +
         markdown_header({"row", "family", "what", "measured", "predicted", "error", "note"}, 7) +
         lines;
}

std::string page_skipped_runs(const ValidationReport& report) {
  std::string text =
      fmt::format("\n## Rows that were not predicted\n\n{} rows.\n", report.skipped.size());
  if (report.skipped.empty()) return text;
  text += "\n" + markdown_header({"row", "reason"}, 2);
  for (const SkippedRow& row : report.skipped) {
    text += markdown_row({without_folder(row.id), row.reason});
  }
  return text;
}

// How well one metric is predicted over all rows of one kind.
std::string errors_in_words(const std::vector<ValidationRow>& rows, const std::string& metric,
                            std::string_view kind, std::string_view what) {
  std::vector<double> errors;
  std::size_t inside = 0;
  for (const ValidationRow& row : rows) {
    if (row.metric != metric) continue;
    errors.push_back(row.relative_error());
    inside += row.low <= row.measured && row.measured <= row.high ? 1 : 0;
  }
  if (errors.empty()) return fmt::format("- {} {}: no row.\n", kind, what);
  std::ranges::sort(errors);
  const auto count = static_cast<double>(errors.size());
  return fmt::format(
      "- {} {}: {} rows, half of them within {:.1f} %, nine of ten within {:.0f} %, mean error "
      "{:.1f} %, {:.0f} % inside their 90 % interval.\n",
      kind, what, errors.size(), 100 * quantile_of_sorted(errors, 0.5),
      100 * quantile_of_sorted(errors, 0.9),
      100 * std::accumulate(errors.begin(), errors.end(), 0.0) / count,
      100 * static_cast<double>(inside) / count);
}

// Blind rows of one publisher, all its releases and GPUs.
struct Publisher {
  std::set<std::string> gpus;
  std::vector<double> errors;
  int inside = 0;
};

std::string page_publishers(const ValidationReport& report) {
  std::map<std::string, Publisher> publishers;
  for (const ValidationRow& row : report.rows) {
    if (row.metric != kStep) continue;
    Publisher& publisher = publishers[std::string(publisher_of(row.family))];
    publisher.gpus.insert(row.family.substr(row.family.rfind(" / ") + 3));
    publisher.errors.push_back(row.relative_error());
    publisher.inside += row.low <= row.measured && row.measured <= row.high ? 1 : 0;
  }
  std::string text = "\n" + markdown_header({"source of rows", "GPUs", "blind rows", "median error",
                                             "nine of ten within", "inside their 90 % interval"},
                                            2);
  for (auto& [name, publisher] : publishers) {
    std::ranges::sort(publisher.errors);
    const auto rows = static_cast<double>(publisher.errors.size());
    text += markdown_row({name, fmt::format("{}", fmt::join(publisher.gpus, ", ")),
                          std::to_string(publisher.errors.size()),
                          percent(quantile_of_sorted(publisher.errors, 0.5)),
                          percent(quantile_of_sorted(publisher.errors, 0.9)),
                          percent(publisher.inside / rows)});
  }
  return text;
}

std::string page_pooled(const ValidationReport& report) {
  if (report.rows.empty() && report.fitted.empty()) return "";
  std::string text =
      "\nA row is blind where no number that predicts it was fitted on it (\"What is not blind\"). "
      "The interval of its\nstep time is made of how far off the runs of other publishers "
      "were.\n\n";
  for (const auto& [metric, what] : {std::pair{std::string(kStep), "step times"},
                                     std::pair{std::string("memory_bytes"), "peak memory"}}) {
    text += errors_in_words(report.rows, metric, "Blind", what);
    text += errors_in_words(report.fitted, metric, "Fitted", what);
  }
  return text + page_publishers(report);
}

std::string page_not_blind(const ValidationReport& report) {
  if (report.fitted_before.empty()) return "";
  std::string text =
      "\n## What is not blind\n\n"
      "Fits that these calibrations rest on, and how many of the rows above each was made with. A "
      "row is predicted by\nthe calibration of its GPU and software.\n\n";
  text += markdown_header({"fit", "numbers", "calibrations", "rows"}, 3);
  for (const FittedBefore& fit : report.fitted_before) {
    text += markdown_row({fit.source, fmt::format("{}", fmt::join(fit.numbers, ", ")),
                          fmt::format("{}", fmt::join(fit.calibrations, ", ")),
                          std::to_string(fit.rows)});
  }
  return text;
}

// Each family held against the others.
std::string page_familiarity(const ValidationReport& report) {
  std::string text =
      "\n## How far each family lies from the others\n\n"
      "The interval of a family, as of any scenario, is as wide as the runs of other families that "
      "are most alike\nwere off, where that is more than its calibration's error "
      "(`models/results/familiarity.hpp`). Deviations are of\nlog(predicted / measured).\n\n"
      "| family | blind rows | its deviation | most alike | rows | their deviation | what no other "
      "family "
      "has |\n|---|--:|--:|---|--:|--:|---|\n";
  for (const MeasuredRuns& runs : report.measured) {
    const Familiarity found = familiarity(runs.traits, report.measured, runs.family);
    const std::string own = runs.rows > 0 ? fmt::format("{:.2f}", runs.deviation) : "-";
    text +=
        fmt::format("| {} | {} | {} | {} | {} | {:.2f} | {} |\n", runs.family, runs.rows, own,
                    found.alike, found.rows, found.deviation, fmt::join(found.unfamiliar, "; "));
  }
  return text;
}

}  // namespace

std::string runs_text(const ValidationReport& report, int worst, std::size_t width) {
  std::string text;
  if (!report.families.empty()) text += runs_table(report, rules_of(report));
  text += worst_text(report, worst, width) + "\n";
  if (!report.fitted.empty()) {
    text += fmt::format("{} values are of rows that were fitted on: not judged\n",
                        report.fitted.size());
  }
  for (const FittedBefore& fit : report.fitted_before) {
    const std::vector<std::string>& of = fit.calibrations.empty() ? fit.numbers : fit.calibrations;
    text += fmt::format("{}, {} rows here: {}\n", fmt::join(of, ", "), fit.rows, fit.source);
  }
  text += fmt::format("{} values and {} memory labels predicted, {} rows not\n", report.rows.size(),
                      report.labels.size(), report.skipped.size());
  return text + skipped_text(report);
}

std::string runs_page(const ValidationReport& report, const std::string& command,
                      double miss_above) {
  const std::vector<std::string> rules = rules_of(report);
  std::string text = fmt::format(
      "# Predicted against measured training runs\n\nMade by `{}`; not written by hand.\n\n"
      "Errors are |predicted - measured| / measured. tau is Kendall's rank correlation, over all "
      "rows of a\nfamily, and within groups: see below. \"in 90 %\" is the share of measured "
      "values inside the predicted\n90 % interval.\n",
      command);
  text += page_pooled(report);
  if (!rules.empty()) {
    text += fmt::format("\nThe last columns are the MAPE of simpler rules: {}.\n",
                        fmt::join(rules, "; "));
  }
  text += "\n## Step time\n\n" + page_metric(report, std::string(kStep), rules);
  text += "\n## Peak memory\n\n" + page_metric(report, "memory_bytes", {});
  text += page_labels(report) + page_ranking(report) + page_not_blind(report);
  text += page_familiarity(report);
  text += page_assumed(report, "rows");
  return text + page_missed_runs(report, miss_above) + page_skipped_runs(report);
}

}  // namespace windtunnel
