#include "report/summary/volunteer_summary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/results/volunteer_report.hpp"
#include "report/figures/figures.hpp"

namespace windtunnel {
namespace {

std::string value_of(const Figure& figure, const Record& record) {
  const FigureValue value = figure.of(record);
  const auto* estimate = std::get_if<Estimate>(&value);
  return estimate != nullptr ? estimate_text(figure.unit, *estimate) : figure.text(record);
}

SummarySection figures_section(const std::string& title, std::string_view prefix,
                               const Record& record) {
  SummarySection section{title, {}};
  for (const Figure* figure : figures_below(prefix)) {
    const std::string text = value_of(*figure, record);
    if (!text.empty()) section.rows.push_back({figure->title, text});
  }
  return section;
}

// Throughput over latency, beside the figures at the peers' own.
SummarySection calls_section(const Record& record) {
  SummarySection section =
      figures_section("Trainers that ask experts on volunteers", "volunteers.calls", record);
  section.table.columns = {{"latency", Align::right},
                           {figure("volunteers.calls.tokens_per_s").title, Align::right},
                           {figure("volunteers.calls.single_tokens_per_s").title, Align::right}};
  for (const CallsPoint& point : record.volunteers->by_latency) {
    section.table.rows.push_back({value_text(Unit::seconds, point.latency_s),
                                  value_text(Unit::count, point.tokens_per_s),
                                  value_text(Unit::count, point.single_tokens_per_s)});
  }
  return section;
}

}  // namespace

std::vector<SummarySection> volunteer_sections(const Record& record) {
  if (record.volunteers == nullptr) return {};
  const VolunteerReport& report = *record.volunteers;
  std::vector<SummarySection> sections = {figures_section(
      fmt::format("Volunteers on {} stage{}, {} trial{} ({} of the mean)", report.stages,
                  report.stages == 1 ? "" : "s", with_separators(report.trials),
                  report.trials == 1 ? "" : "s", kIntervalTitle),
      "volunteers", record)};
  if (report.calls) sections.push_back(calls_section(record));
  return sections;
}

std::vector<const Figure*> volunteer_columns(const Comparison& comparison) {
  std::vector<const Figure*> columns;
  for (const char* prefix : {"volunteers", "volunteers.calls"}) {
    for (const Figure* figure : figures_below(prefix)) {
      const bool any = std::ranges::any_of(comparison.points, [&](const ComparedPoint& point) {
        return point.record && !figure->text(*point.record).empty();
      });
      if (any) columns.push_back(figure);
    }
  }
  return columns;
}

}  // namespace windtunnel
