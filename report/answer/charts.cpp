#include "report/answer/charts.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "report/figures/figures.hpp"
#include "report/json/json.hpp"
#include "report/page/drawing.hpp"

namespace windtunnel {
namespace {

Json axis_json(const ChartAxis& axis) {
  return {{"name", axis.name}, {"unit", unit_form(axis.unit).name}};
}

Json group_json(const ScatterGroup& group, bool logarithmic) {
  Json xs = Json::array(), ys = Json::array(), tips = Json::array();
  Json labels = Json::array();
  for (const ScatterPoint& point : group.points) {
    if (logarithmic && !(point.x > 0 && point.y > 0)) continue;
    xs.push_back(point.x);
    ys.push_back(point.y);
    tips.push_back(point.tip);
    labels.push_back(point.label);
  }
  return {{"name", group.name}, {"x", xs},         {"y", ys},
          {"tip", tips},        {"label", labels}, {"line", group.line}};
}

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
          {"note", fmt::format("{}All intervals are simulated under the same failures. The formula "
                               "assumes a constant rate, exponential gaps and this tier alone.",
                               chosen)},
          {"interval", campaign_json(record).at("interval")}};
}

}  // namespace

Json chart_json(const RangeChart& chart) {
  Json json = {{"kind", "ranges"}, {"title", chart.title}, {"note", chart.note}};
  json["axis"] = axis_json(chart.axis);
  json["floor"] = chart.floor;
  json["items"] = list_json(chart.items, [](const RangeItem& item) {
    Json each = {{"name", item.name}};
    PUT_MEMBERS(each, item.value, mean, low, high);
    PUT_MEMBERS(each, item, group, tip, best, marks);
    return each;
  });
  return json;
}

Json chart_json(const ScatterChart& chart) {
  return {{"kind", "scatter"},
          {"title", chart.title},
          {"note", chart.note},
          {"x", axis_json(chart.x)},
          {"y", axis_json(chart.y)},
          {"log", chart.logarithmic},
          {"bands", chart.bands},
          {"one_at_a_time", chart.one_at_a_time},
          {"groups", list_json(chart.groups, [&](const ScatterGroup& group) {
             return group_json(group, chart.logarithmic);
           })}};
}

Json shares_chart(const std::string& title, SharesOf of,
                  const std::vector<std::pair<std::string, double>>& shares) {
  return {{"kind", "shares"},
          {"title", title},
          {"of", of == SharesOf::loss ? "loss" : "category"},
          {"shares", shares}};
}

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
