#include "report/answer/charts.hpp"

#include <string_view>

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

}  // namespace

Json chart_json(const RangeChart& chart) {
  Json items = Json::array();
  for (const RangeItem& item : chart.items) {
    items.push_back({{"name", item.name},
                     {"mean", item.value.mean},
                     {"low", item.value.low},
                     {"high", item.value.high},
                     {"group", item.group},
                     {"tip", item.tip},
                     {"best", item.best},
                     {"marks", item.marks}});
  }
  return {{"kind", "ranges"},     {"title", chart.title},
          {"note", chart.note},   {"axis", axis_json(chart.axis)},
          {"floor", chart.floor}, {"items", items}};
}

Json chart_json(const ScatterChart& chart) {
  Json groups = Json::array();
  for (const ScatterGroup& group : chart.groups) {
    groups.push_back(group_json(group, chart.logarithmic));
  }
  return {{"kind", "scatter"},       {"title", chart.title},
          {"note", chart.note},      {"x", axis_json(chart.x)},
          {"y", axis_json(chart.y)}, {"log", chart.logarithmic},
          {"bands", chart.bands},    {"one_at_a_time", chart.one_at_a_time},
          {"groups", groups}};
}

Json shares_chart(const std::string& title, SharesOf of,
                  const std::vector<std::pair<std::string, double>>& shares) {
  return {{"kind", "shares"},
          {"title", title},
          {"of", of == SharesOf::loss ? "loss" : "category"},
          {"shares", shares}};
}

}  // namespace windtunnel
