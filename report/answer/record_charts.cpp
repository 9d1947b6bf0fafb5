#include "report/answer/record_charts.hpp"

#include <fmt/format.h>

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

}  // namespace

std::vector<SummarySection> record_charts(const Record& record, const std::string& storage_note) {
  std::vector<SummarySection> charts;
  const auto add = [&](Json drawing, bool half) {
    charts.push_back(drawn(std::move(drawing), half));
  };
  const auto path = shares_below(record, "iteration.critical_path_s", record.iteration.time_s);
  if (!path.empty()) {
    add(shares_chart(group_title("iteration.critical_path_s"), SharesOf::category, path), true);
  }
  if (!record.iteration.memory.empty()) {
    add({{"kind", "memory"},
         {"title", "Memory per GPU by pipeline rank"},
         {"memory", memory_ranks(record)}},
        true);
  }
  if (!record.campaign) return charts;
  auto lost = shares_below(record, "campaign.lost", 1);
  lost.emplace_back(figure("campaign.useful_s").title, record.campaign->goodput.mean);
  add(shares_chart(group_title("campaign.lost"), SharesOf::loss, lost), true);
  const Json interval = campaign_json(record).at("interval");
  if (interval.is_object() && interval.at("points").size() > 1) {
    const auto tier = interval.at("tier").get<std::string>();
    const std::string chosen = tier == "storage" && !storage_note.empty() ? storage_note + " " : "";
    add({{"kind", "interval"},
         {"title", fmt::format("{} ({})", group_title("campaign.interval"), tier)},
         {"note", fmt::format("{}Every interval met the same failures. The formula knows one rate, "
                              "exponential gaps and this tier only.",
                              chosen)},
         {"interval", interval}},
        false);
  }
  return charts;
}

}  // namespace windtunnel
