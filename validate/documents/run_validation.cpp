#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "models/base/quantile.hpp"
#include "validate/documents/validation.hpp"
#include "validate/documents/validation_rows.hpp"

namespace windtunnel {
namespace {

constexpr size_t kWidth = 100;
constexpr std::string_view kStep = "step_s";
constexpr std::string_view kMemory = "memory_bytes";

std::string metric_name(const ValidationFamily& family) {
  if (family.metric == kStep) return "  step";
  return "  " + (family.metric == kMemory ? "memory" : family.metric);
}

std::string seconds_or_bytes(const ValidationRow& row, double value) {
  return row.metric == kStep ? fmt::format("{:.4g} s", value)
                             : fmt::format("{:.1f} GB", value / 1e9);
}

std::string label_text(const MemoryLabels& labels) {
  const double rows = labels.rows();
  return fmt::format(
      "  out of memory or not: {} of {} right ({}); {} ({}) missed, {} ({}) false alarms",
      labels.right, labels.rows(), percent(labels.right / rows), labels.missed,
      percent(labels.missed / rows), labels.false_alarms, percent(labels.false_alarms / rows));
}

std::string ranking_text(const GroupRanking& ranking) {
  return fmt::format(
      "  layouts of {} jobs, {} pairs; the predicted best is {} slower than the best (median; "
      "worst {})",
      ranking.groups, ranking.pairs, percent(ranking.median_regret), percent(ranking.worst_regret));
}

// Shows each family's name, followed by the lines of its metrics.
TextTable families_by_name(const ValidationReport& report) {
  TextTable table = families_table(report);
  std::vector<std::string> names;
  std::map<std::string, Lines> below;
  for (size_t i = 0; i < report.families.size(); ++i) {
    const ValidationFamily& family = report.families[i];
    if (below.count(family.name) == 0) names.push_back(family.name);
    Lines& lines = below[family.name];
    table.rows[i].front() = metric_name(family);
    if (family.rows + family.fitted > 0) lines.push_back(std::move(table.rows[i]));
    if (family.ranking) lines.push_back({ranking_text(*family.ranking)});
    if (family.out_of_memory) lines.push_back({label_text(*family.out_of_memory)});
  }
  table.rows.clear();
  for (const std::string& name : names) {
    table.rows.push_back({shortened(name, kWidth)});
    std::ranges::move(below[name], std::back_inserter(table.rows));
  }
  return table;
}

TextTable metric_families(const ValidationReport& report, std::string_view metric) {
  return families_table(report, [&](const ValidationFamily& family) {
    return family.metric == metric && family.rows + family.fitted > 0;
  });
}

TextTable labels_table(const ValidationReport& report) {
  TextTable table = titled_table("family | rows > | right > | missed > | false alarms >");
  for (const ValidationFamily& family : report.families) {
    if (!family.out_of_memory) continue;
    const MemoryLabels& labels = *family.out_of_memory;
    const auto cell = [rows = labels.rows()](int count) {
      return fmt::format("{} ({})", count, percent(count / static_cast<double>(rows)));
    };
    table.rows.push_back({family.name, std::to_string(labels.rows()), cell(labels.right),
                          cell(labels.missed), cell(labels.false_alarms)});
  }
  return table;
}

TextTable ranking_table(const ValidationReport& report) {
  TextTable table =
      titled_table("family | jobs > | pairs > | tau > | median regret > | worst regret >");
  for (const ValidationFamily& family : report.families) {
    if (!family.ranking) continue;
    const GroupRanking& ranking = *family.ranking;
    table.rows.push_back({family.name, std::to_string(ranking.groups),
                          std::to_string(ranking.pairs), tau_text(ranking.kendall_tau),
                          percent(ranking.median_regret), percent(ranking.worst_regret)});
  }
  return table;
}

TextTable speed_ups_table(const ValidationReport& report) {
  TextTable table = titled_table(
      "differ in | publishers > | pairs > | error > | of the logarithm > | right at 1.1 > | "
      "typical "
      "ratio >");
  for (const MeasuredPairs& pairs : report.pairs) {
    table.rows.push_back({pairs.differs, std::to_string(pairs.sources), std::to_string(pairs.pairs),
                          percent(pairs.error), percent(pairs.share),
                          percent(speed_up_of(1.1, pairs).faster),
                          fmt::format("{:.2f}", std::exp(pairs.spread))});
  }
  return table;
}

// The errors of some rows.
struct Errors {
  std::vector<double> sizes;  // ascending
  int inside = 0;             // number of rows within their 90 % interval

  void add(const ValidationRow& row) {
    sizes.insert(std::ranges::upper_bound(sizes, row.relative_error()), row.relative_error());
    inside += row.low <= row.measured && row.measured <= row.high ? 1 : 0;
  }
  double quantile(double share) const { return quantile_of_sorted(sizes, share); }
  double mean() const {
    return std::accumulate(sizes.begin(), sizes.end(), 0.0) / static_cast<double>(sizes.size());
  }
  double covered() const { return inside / static_cast<double>(sizes.size()); }
};

std::vector<std::string> pooled_cells(const std::vector<ValidationRow>& rows,
                                      std::string_view metric, const char* kind, const char* what) {
  Errors errors;
  for (const ValidationRow& row : rows) {
    if (row.metric == metric) errors.add(row);
  }
  if (errors.sizes.empty()) return {kind, what, "", "", "", "", ""};
  return {kind,
          what,
          std::to_string(errors.sizes.size()),
          fmt::format("{:.1f}", 100 * errors.quantile(0.5)),
          fmt::format("{:.0f}", 100 * errors.quantile(0.9)),
          fmt::format("{:.1f}", 100 * errors.mean()),
          fmt::format("{:.0f}", 100 * errors.covered())};
}

// Lists the accuracy of each metric over all rows, blind or not.
TextTable pooled_table(const ValidationReport& report) {
  TextTable table = titled_table("kind | what | rows | median | p90 | mean | inside");
  if (report.rows.empty() && report.fitted.empty()) return table;
  for (const auto& [metric, what] :
       {std::pair{kStep, "step times"}, std::pair{kMemory, "peak memory"}}) {
    table.rows.push_back(pooled_cells(report.rows, metric, "Blind", what));
    table.rows.push_back(pooled_cells(report.fitted, metric, "Fitted", what));
  }
  return table;
}

// Lists the accuracy on blind rows of each publisher, over all its releases and GPUs.
TextTable publishers_table(const ValidationReport& report) {
  std::map<std::string, std::pair<std::set<std::string>, Errors>> publishers;
  for (const ValidationRow& row : report.rows) {
    if (row.metric != kStep) continue;
    auto& [gpus, errors] = publishers[std::string(publisher_of(row.family))];
    gpus.insert(row.family.substr(row.family.rfind(" / ") + 3));
    errors.add(row);
  }
  TextTable table = titled_table(
      "source of rows | GPUs | blind rows > | median error > | nine of ten within > | "
      "inside their 90 % interval >");
  for (const auto& [name, publisher] : publishers) {
    const auto& [gpus, errors] = publisher;
    table.rows.push_back({name, fmt::format("{}", fmt::join(gpus, ", ")),
                          std::to_string(errors.sizes.size()), percent(errors.quantile(0.5)),
                          percent(errors.quantile(0.9)), percent(errors.covered())});
  }
  return table;
}

TextTable not_blind_table(const ValidationReport& report) {
  return table_of("fit | numbers | calibrations | rows >", report.fitted_before,
                  [&](const FittedBefore& fit) -> TableRow {
                    return {fit.source, fmt::format("{}", fmt::join(fit.numbers, ", ")),
                            fmt::format("{}", fmt::join(fit.calibrations, ", ")),
                            std::to_string(fit.rows)};
                  });
}

// Compares each family with the others.
TextTable familiarity_table(const ValidationReport& report) {
  return table_of(
      "family | blind rows > | its deviation > | most alike | rows > | "
      "their deviation > | traits that no other family has",
      report.measured, [&](const MeasuredRuns& runs) -> TableRow {
        const Familiarity found = familiarity(runs.traits, report.measured, runs.family);
        return {runs.family,
                std::to_string(runs.rows),
                runs.rows > 0 ? fmt::format("{:.2f}", deviation_of(runs)) : "-",
                found.alike,
                std::to_string(found.rows),
                fmt::format("{:.2f}", found.deviation),
                fmt::format("{}", fmt::join(found.unfamiliar, "; "))};
      });
}

// Lists the misses in the order of the report.
TextTable missed_runs(const ValidationReport& report, double miss_above) {
  Rows missed;
  for (const ValidationRow& row : report.rows) {
    if (row.relative_error() > miss_above) missed.push_back(&row);
  }
  return rows_table(missed, seconds_or_bytes);
}

// Adds the most frequent reasons, a line of kWidth each.
void add_first_reasons(Document& document) {
  constexpr size_t kReasons = 12;
  TextTable reasons = std::get<TextTable>(document["reasons"]);
  const size_t more = reasons.rows.size() - std::min(reasons.rows.size(), kReasons);
  reasons.rows.resize(reasons.rows.size() - more);
  for (std::vector<std::string>& cells : reasons.rows) {
    const size_t first = std::string_view(", first ").size() + cells[2].size();
    cells[0] = shortened(cells[0], kWidth - 10 - std::min(first, kWidth / 2));
  }
  document["first_reasons"] = std::move(reasons);
  document["more_reasons"] = std::to_string(more);
}

}  // namespace

Document runs_document(const ValidationReport& report, int worst, double miss_above) {
  Document document = judged_document("runs", report);
  add_first_reasons(document);
  document["families"] = families_by_name(report);
  document["worst"] =
      rows_table(worst_first(report, -1, static_cast<size_t>(worst)), seconds_or_bytes);
  document["pooled"] = pooled_table(report);
  document["publishers"] = publishers_table(report);
  document["step"] = metric_families(report, kStep);
  document["memory"] = metric_families(report, kMemory);
  document["out_of_memory"] = labels_table(report);
  document["ranking"] = ranking_table(report);
  document["speed_ups"] = speed_ups_table(report);
  document["not_blind"] = not_blind_table(report);
  document["familiarity"] = familiarity_table(report);
  add_misses(document, missed_runs(report, miss_above), miss_above);
  document["rows_are"] = "rows";
  return document;
}

}  // namespace windtunnel
