#include "validate/pages/validation_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "models/base/units.hpp"
#include "report/answer/charts.hpp"
#include "report/answer/command_answers.hpp"
#include "validate/documents/kind_documents.hpp"
#include "validate/documents/validation_rows.hpp"

namespace windtunnel {
namespace {

constexpr size_t kWorst = 25;
constexpr double kLeastError = 0.001;        // smallest error drawn
constexpr double kClose = 0.1, kNear = 0.2;  // bands of the charts

constexpr const char* kErrorNote =
    "Mean of |predicted - measured| / measured over a family's rows, with a 95 % interval that "
    "treats rows as independent. Diamonds: the best simpler rule on the same rows.";
constexpr const char* kScatterNote =
    "Solid: predicted equals measured. Dashed: 10 % and 20 % off. Hover over a point to see its "
    "row.";

Unit unit_of_metric(std::string_view metric) {
  if (metric.ends_with("_s")) return Unit::seconds;
  if (metric.ends_with("_bytes")) return Unit::memory;
  return metric.ends_with("_rate") ? Unit::share : Unit::count;
}

// Turns "suspect_step_s" into "suspect step time".
std::string metric_title(std::string_view metric) {
  std::string title(metric);
  const bool time = title.ends_with("_s");
  if (time) title.resize(title.size() - 2);
  if (title.ends_with("_bytes")) title.resize(title.size() - 6);
  std::ranges::replace(title, '_', ' ');
  return time && !title.ends_with("time") ? title + " time" : title;
}

std::vector<std::string> metrics_of(const ValidationReport& report) {
  std::vector<std::string> metrics;
  for (const ValidationRow& row : report.rows) {
    if (std::ranges::find(metrics, row.metric) == metrics.end()) metrics.push_back(row.metric);
  }
  return metrics;
}

std::string row_tip(const ValidationRow& row) {
  std::string tip = without_folder(row.id);
  if (!row.label.empty()) tip += ": " + row.label;
  tip += fmt::format("\n{} off", signed_error(row));
  if (row.high > row.low) {
    tip += fmt::format(", 90 % interval {}",
                       range_text(unit_of_metric(row.metric), row.low, row.high));
  }
  return row.note.empty() ? tip : tip + "\n" + shortened(row.note, 120);
}

// `of` ends the title and names the rows.
Json accuracy_chart(const ValidationReport& report, const std::string& metric,
                    const std::string& of) {
  const Unit unit = unit_of_metric(metric);
  ScatterChart chart{
      .title = fmt::format("Predicted against measured: {}{}", metric_title(metric), of),
      .note = kScatterNote,
      .x = {"measured", unit},
      .y = {"predicted", unit},
      .groups = {},
      .logarithmic = true,
      .bands = {kClose, kNear}};
  std::map<std::string, size_t> places;
  for (const ValidationRow& row : report.rows) {
    if (row.metric != metric) continue;
    const auto [place, added] = places.emplace(row.family, chart.groups.size());
    if (added) chart.groups.push_back({row.family, {}});
    chart.groups[place->second].points.push_back({row.measured, row.predicted, row_tip(row)});
  }
  return chart_json(chart);
}

Estimate error_of(const ValidationReport& report, const ValidationFamily& family) {
  std::vector<double> errors;
  for (const ValidationRow& row : report.rows) {
    if (row.family == family.name && row.metric == family.metric) {
      errors.push_back(row.relative_error());
    }
  }
  return errors.empty() ? Estimate{family.mape, family.mape, family.mape} : estimate(errors);
}

// All metrics and kinds share one axis, because errors are relative.
Json errors_chart(const std::vector<JudgedRows>& judged) {
  RangeChart chart{.title = "Error of each family, compared with the best simpler rule",
                   .note = kErrorNote,
                   .axis = {"mean absolute error", Unit::share},
                   .items = {},
                   .floor = kLeastError};
  for (const auto& [kind, report] : judged) {
    for (const ValidationFamily& family : report.families) {
      if (family.rows == 0) continue;
      RangeItem item{
          .name = family.name,
          .value = error_of(report, family),
          .group = fmt::format("{}: {}", kind, metric_title(family.metric)),
          .tip = fmt::format("{} rows, median {}, 90th percentile {}, worst {}", family.rows,
                             percent(family.median_ape), percent(family.p90_ape),
                             percent(family.worst.relative_error()))};
      if (const auto rule = best_rule(family)) {
        item.marks["best simpler rule"] = rule->second;
        item.tip += fmt::format("\nsimpler rule: {}", rule->first);
      }
      chart.items.push_back(std::move(item));
    }
  }
  // Lists each group once, in the order of its first family.
  std::vector<std::string> groups;
  for (const RangeItem& item : chart.items) {
    if (std::ranges::find(groups, item.group) == groups.end()) groups.push_back(item.group);
  }
  std::ranges::stable_sort(chart.items, {}, [&](const RangeItem& item) {
    return std::ranges::find(groups, item.group) - groups.begin();
  });
  return chart_json(chart);
}

SummarySection families_section(const std::vector<JudgedRows>& judged) {
  SummarySection section{"Families of rows", {}, {}, ShownOn::page};
  for (const JudgedRows& each : judged) {
    const auto title = [](const auto& family) { return metric_title(family.metric); };
    TextTable table = picked(families_table(each.report, {}, {{{"title"}, title}}),
                             "family | metric = title | rows > | fitted on = fitted > | "
                             "MAPE = mape > | median > | p90 > | worst > | in 90 % = coverage > | "
                             "best simpler rule = best rule");
    section.table.columns = table.columns;
    std::ranges::move(table.rows, std::back_inserter(section.table.rows));
  }
  return section;
}

std::vector<SummarySection> left_out_sections(const JudgedRows& judged, const std::string& of) {
  std::vector<SummarySection> sections;
  SummarySection skipped{"Not predicted" + of, {}, reasons_table(judged.report)};
  skipped.table.columns.front().title = "why";
  if (!skipped.table.rows.empty()) sections.push_back(std::move(skipped));
  SummarySection assumed{fmt::format("What the sources do not state{}", of), {}, {}, ShownOn::page};
  assumed.table = titled_table("assumed | family | rows >");
  for (const ValidationFamily& family : judged.report.families) {
    for (const auto& [what, rows] : family.assumed) {
      assumed.table.rows.push_back({what, family.name, std::to_string(rows)});
    }
  }
  if (!assumed.table.rows.empty()) sections.push_back(std::move(assumed));
  return sections;
}

std::string share_text(size_t part, size_t whole) {
  return value_text(Unit::share, static_cast<double>(part) / static_cast<double>(whole));
}

// Sums up the accuracy over all rows of a metric.
struct Accuracy {
  std::vector<double> errors;  // ascending
  size_t near = 0, claimed = 0, covered = 0;
  size_t families = 0, better = 0;  // with a simpler rule, and better than it
};

Accuracy accuracy_of(const ValidationReport& report, const std::string& metric) {
  Accuracy found;
  for (const ValidationRow& row : report.rows) {
    if (row.metric != metric) continue;
    found.errors.push_back(row.relative_error());
    found.near += row.relative_error() <= kNear ? 1 : 0;
    if (row.high <= row.low) continue;
    ++found.claimed;
    found.covered += row.measured >= row.low && row.measured <= row.high ? 1 : 0;
  }
  for (const ValidationFamily& family : report.families) {
    const auto rule = best_rule(family);
    if (family.metric != metric || family.rows == 0 || !rule) continue;
    ++found.families;
    found.better += family.mape < rule->second ? 1 : 0;
  }
  std::ranges::sort(found.errors);
  return found;
}

std::string median_text(const Accuracy& found) {
  return value_text(Unit::share, found.errors[found.errors.size() / 2]);
}

constexpr size_t kDrawnSeries = 60;

// Omits series at sizes that were fitted on.
Json spread_chart(const PairSpread& spread) {
  RangeChart chart{
      .title = "Bus bandwidth over pairs of nodes, measured and simulated",
      .note =
          "Line: median of the measured pairs, with the 10 % and 90 % quantiles. Marks: the same "
          "for simulated pairs. Only sizes that were not used in the fit.",
      .axis = {"bus bandwidth (GB/s)", Unit::count},
      .items = {}};
  for (const PairSpreadMachine& machine : spread.machines) {
    for (const PairSeriesSpread& series : machine.series) {
      if (series.fitted || chart.items.size() == kDrawnSeries) continue;
      const auto& [low, median, high] = series.measured_Bps;
      chart.items.push_back({.name = series_name(series),
                             .value = {.mean = median / 1e9, .low = low / 1e9, .high = high / 1e9},
                             .group = machine.name,
                             .tip = counted(static_cast<double>(series.pairs), "pair"),
                             .best = false,
                             .marks = {{"simulated 10 %", series.simulated_Bps[0] / 1e9},
                                       {"simulated median", series.simulated_Bps[1] / 1e9},
                                       {"simulated 90 %", series.simulated_Bps[2] / 1e9}}});
    }
  }
  return chart_json(chart);
}

std::vector<SummaryRow> spread_figures(const PairSpread& spread) {
  SpreadCounts counts;
  for (const PairSpreadMachine& machine : spread.machines) add_counts(machine, counts);
  const auto share = [&](int series) { return fmt::format("{} of {}", series, counts.judged); };
  return {{"within 10 %", share(counts.good), "series, all three quantiles"},
          {"with equal pairs", share(counts.uniform), "series within 10 % by a simpler rule"},
          {"worst", format_percent(counts.worst), "of a quantile"}};
}

}  // namespace

std::vector<SummaryRow> accuracy_figures(const ValidationReport& report) {
  const std::vector<std::string> metrics = metrics_of(report);
  if (metrics.empty()) return {{"rows", "0", "none was predicted"}};
  const Accuracy found = accuracy_of(report, metrics.front());
  const size_t rows = found.errors.size();
  const std::string title = metric_title(metrics.front());
  std::vector<SummaryRow> figures = {
      {"rows", with_separators(static_cast<double>(rows)),
       fmt::format("{}, predicted and measured", title)},
      {"median error", median_text(found), fmt::format("{} for half of the rows, or less", title)},
      {"within 20 %", share_text(found.near, rows), fmt::format("{} of the rows", title)}};
  if (found.claimed > 0) {
    figures.push_back(
        {"coverage", share_text(found.covered, found.claimed), "in their 90 % intervals"});
  }
  if (found.families > 0) {
    figures.push_back({"better than rules", fmt::format("{} of {}", found.better, found.families),
                       "families beat the best simpler one"});
  }
  for (size_t i = 1; i < metrics.size(); ++i) {
    const Accuracy other = accuracy_of(report, metrics[i]);
    figures.push_back({fmt::format("{}, median error", metric_title(metrics[i])),
                       median_text(other), fmt::format("of {} rows", other.errors.size())});
  }
  return figures;
}

namespace {

// Shows the median error of each kind and metric separately, because they are not comparable.
std::vector<SummaryRow> kinds_figures(const std::vector<JudgedRows>& judged) {
  std::vector<SummaryRow> figures;
  for (const JudgedRows& each : judged) {
    const std::vector<std::string> metrics = metrics_of(each.report);
    if (metrics.empty()) figures.push_back({each.kind, "-", "no row was predicted"});
    for (const std::string& metric : metrics) {
      const Accuracy found = accuracy_of(each.report, metric);
      figures.push_back(
          {metrics.size() > 1 ? fmt::format("{}: {}", each.kind, metric_title(metric)) : each.kind,
           median_text(found), fmt::format("median of {} rows", found.errors.size())});
    }
  }
  return figures;
}

std::vector<std::string> fault_warnings(const FaultValidation& validation) {
  std::vector<std::string> outside;
  for (const FaultPrediction& row : validation.predictions) {
    if (!row.inside()) outside.push_back(row.name);
  }
  if (outside.empty()) return {};
  return {fmt::format("Values outside of their ranges: {}.", fmt::join(outside, ", "))};
}

// Values are relative to the measured one, so that shares, hours and bytes share one axis.
Json fault_chart(const FaultValidation& validation) {
  RangeChart chart{.title = "Predicted over measured",
                   .note =
                       "Ranges cover inputs that the sources do not state; 1 is the measured "
                       "value. Diamonds: a published formula; triangles: a rule of thumb.",
                   .axis = {"predicted / measured", Unit::count},
                   .items = {}};
  for (const FaultPrediction& row : validation.predictions) {
    if (!(row.measured > 0)) continue;
    RangeItem item{.name = row.name,
                   .value = {.mean = row.predicted / row.measured,
                             .low = row.low / row.measured,
                             .high = row.high / row.measured},
                   .group = row.metric,
                   .tip = fmt::format("measured {:.4g} {}\n{}", row.measured, row.unit, row.system),
                   .best = row.inside()};
    item.marks["measured"] = 1;
    if (row.formula) item.marks["formula"] = row.formula->value / row.measured;
    if (row.baseline) item.marks["simpler rule"] = row.baseline->value / row.measured;
    chart.items.push_back(std::move(item));
  }
  std::ranges::stable_sort(chart.items, {}, &RangeItem::group);
  return chart_json(chart);
}

std::string in_its_unit(const ValidationRow& row, double value) {
  return value_text(unit_of_metric(row.metric), value);
}

SummarySection worst_section(const ValidationReport& report, size_t most) {
  const TextTable table =
      rows_table(worst_first(report, -1, most), in_its_unit,
                 {{{"of"}, [](const ValidationRow& row) {
                     return fmt::format("{} of {}; {}", metric_title(row.metric),
                                        row.label.empty() ? "the row" : row.label, row.family);
                   }}});
  return {"The worst rows",
          {},
          picked(table, "row | error > | measured > | predicted > | what = of"),
          ShownOn::page};
}

SummarySection command_section(const std::string& command) {
  return {"How to reproduce this", {{"command", command}}, {}};
}

}  // namespace

std::vector<SummarySection> validation_sections(std::vector<JudgedRows> rows) {
  const auto kept = std::make_shared<const std::vector<JudgedRows>>(std::move(rows));
  const std::vector<JudgedRows>& judged = *kept;
  std::vector<SummarySection> sections;
  const bool several = judged.size() > 1;
  const SummarySection errors = chart_section([kept] { return errors_chart(*kept); });
  if (several) sections.push_back(errors);
  for (const JudgedRows& each : judged) {
    bool half = several;  // with one kind, the first chart is the main one
    for (const std::string& metric : metrics_of(each.report)) {
      const auto chart = [kept, metric, of = &each, several] {
        return accuracy_chart(of->report, metric, several ? " (" + of->kind + ")" : "");
      };
      sections.push_back(chart_section(chart, half));
      half = true;
    }
  }
  if (!several) sections.push_back(errors);
  sections.push_back(families_section(judged));
  for (const JudgedRows& each : judged) {
    const std::string of = several ? fmt::format(": {}", each.kind) : "";
    SummarySection worst = worst_section(each.report, several ? kWorst / 3 : kWorst);
    worst.title += of;
    if (!worst.table.rows.empty()) sections.push_back(std::move(worst));
    std::ranges::move(left_out_sections(each, of), std::back_inserter(sections));
  }
  return sections;
}

std::string validation_page(const std::vector<JudgedRows>& judged, const std::string& command) {
  std::vector<std::string> kinds;
  for (const JudgedRows& each : judged) kinds.push_back(each.kind);
  Answer answer{.title = fmt::format("Predicted against measured: {}", fmt::join(kinds, ", ")),
                .subtitle = command,
                .figures = judged.size() == 1 ? accuracy_figures(judged.front().report)
                                              : kinds_figures(judged),
                .sections = validation_sections(judged)};
  answer.sections.push_back(command_section(command));
  return answer_page(answer);
}

std::string faults_validation_page(const FaultValidation& validation, const std::string& command) {
  const size_t rows = validation.predictions.size();
  const auto inside = static_cast<size_t>(std::ranges::count_if(
      validation.predictions, [](const FaultPrediction& row) { return row.inside(); }));
  Answer answer{
      .title = "Predicted against published: failures",
      .subtitle = command,
      .figures = {{"inside their range", fmt::format("{} of {}", inside, rows), "values"},
                  {"not predicted", std::to_string(validation.report.skipped.size()), "rows"}},
      .sections = {chart_section([&validation] { return fault_chart(validation); })},
      .warnings = fault_warnings(validation)};
  std::ranges::move(fault_sections(validation), std::back_inserter(answer.sections));
  std::ranges::move(left_out_sections({"failures", validation.report}, ""),
                    std::back_inserter(answer.sections));
  answer.sections.push_back(command_section(command));
  return answer_page(answer);
}

std::string pairs_page(const PairSpread& spread, const std::string& command) {
  Answer answer{.title = "Predicted against measured: pairs of nodes",
                .subtitle = command,
                .figures = spread_figures(spread),
                .sections = {chart_section([&spread] { return spread_chart(spread); })}};
  for (const PairSpreadMachine& machine : spread.machines) {
    answer.sections.push_back(
        {fmt::format("Bus bandwidth of {}, GB/s", machine.name),
         {{"what differs", variation_text(machine)}, {"judged", spread_verdict(machine)}},
         spread_table(machine)});
  }
  return answer_page(answer);
}

}  // namespace windtunnel
