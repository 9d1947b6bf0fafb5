#include "report/answer/record_charts.hpp"

#include <fmt/format.h>

#include <utility>

#include "report/answer/charts.hpp"
#include "report/figures/figures.hpp"
#include "report/json/json.hpp"
#include "report/page/drawing.hpp"

namespace windtunnel {
namespace {

std::vector<std::pair<std::string, double>> shares_below(const Record& record, std::string_view key,
                                                         double whole) {
  std::vector<std::pair<std::string, double>> shares;
  for (const Figure* each : figures_below(key)) {
    const double value = number_of(each->of(record));
    if (value > 0) shares.emplace_back(each->title, value / whole);
  }
  return shares;
}

Json memory_chart_of(const Record& record) {
  return {{"kind", "memory"},
          {"title", "Memory per GPU by pipeline rank"},
          {"memory", memory_ranks(record)}};
}

Json interval_chart(const Record& record, const std::string& storage_note) {
  const std::string& tier = record.campaign->interval->tier;
  const std::string chosen = tier == "storage" && !storage_note.empty() ? storage_note + " " : "";
  return {{"kind", "interval"},
          {"title", fmt::format("{} ({})", group_title("campaign.interval"), tier)},
          {"note", fmt::format("{}Every interval met the same failures. The formula knows one "
                               "rate, exponential gaps and this tier only.",
                               chosen)},
          {"interval", campaign_json(record).at("interval")}};
}

}  // namespace

std::vector<SummarySection> record_charts(const Record& record, const std::string& storage_note) {
  std::vector<SummarySection> charts;
  const auto add_shares = [&](std::string_view group, SharesOf of, auto shares) {
    const auto chart = [group, of, shares = std::move(shares)] {
      return shares_chart(group_title(group), of, shares);
    };
    charts.push_back(chart_section(chart, true));
  };
  auto path = shares_below(record, "iteration.critical_path_s", record.iteration.time_s);
  if (!path.empty()) {
    add_shares("iteration.critical_path_s", SharesOf::category, std::move(path));
  }
  if (!record.iteration.memory.empty()) {
    charts.push_back(chart_section([&record] { return memory_chart_of(record); }, true));
  }
  if (!record.campaign) return charts;
  auto lost = shares_below(record, "campaign.lost", 1);
  lost.emplace_back(figure("campaign.useful_s").title, record.campaign->goodput.mean);
  add_shares("campaign.lost", SharesOf::loss, std::move(lost));
  if (record.campaign->interval && record.campaign->interval->points.size() > 1) {
    charts.push_back(
        chart_section([&record, storage_note] { return interval_chart(record, storage_note); }));
  }
  return charts;
}

}  // namespace windtunnel
