#include "report/captured/what_if.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/base/units.hpp"

namespace windtunnel {
namespace {

std::string change_of(double from_s, double to_s) {
  return fmt::format("{:+.1f} %", 100 * (to_s / from_s - 1));
}

std::vector<std::string> what_if_row(const WhatIfPoint& point, const std::string& change) {
  if (point.step_s <= 0) return {point.name, "", "", "", "", point.reason};
  return {point.name,
          format_seconds(point.step_s),
          change,
          format_percent(point.bubble),
          format_bytes(point.memory_bytes),
          point.reason};
}

Json point_document(const WhatIfPoint& point) {
  Json document = {{"point", point.name}};
  if (!point.reason.empty()) document["reason"] = point.reason;
  if (point.step_s <= 0) return document;
  document["step_s"] = point.step_s;
  document["bubble"] = point.bubble;
  document["memory_bytes"] = point.memory_bytes;
  return document;
}

}  // namespace

WhatIfPoint what_if_point(std::string name, const IterationReport& report, std::string excess) {
  WhatIfPoint point{.name = std::move(name), .reason = std::move(excess)};
  point.step_s = report.time_s;
  point.bubble = report.bubble.makespan_s / report.time_s;
  for (const GpuMemory& rank : report.memory) {
    point.memory_bytes = std::max(point.memory_bytes, rank.total());
  }
  return point;
}

SummarySection what_if_section(const ChosenSteps& what_if) {
  const WhatIfPoint& captured = what_if.captured;
  SummarySection section{"Other choices, with the calibration of this trace", {}};
  section.table.columns = {{"", Align::left},        {"step", Align::right},
                           {"change", Align::right}, {"bubble", Align::right},
                           {"memory", Align::right}, {"", Align::left}};
  section.table.rows.push_back(what_if_row(captured, ""));
  for (const WhatIfPoint& point : what_if.others) {
    section.table.rows.push_back(
        what_if_row(point, point.step_s > 0 ? change_of(captured.step_s, point.step_s) : ""));
  }
  section.rows.push_back(
      {"how far to trust it",
       fmt::format("{} is predicted to take {}, traced {} ({})", captured.name,
                   format_seconds(captured.step_s), format_seconds(what_if.traced_s),
                   change_of(what_if.traced_s, captured.step_s))});
  return section;
}

Json what_if_document(const ChosenSteps& what_if) {
  Json others = Json::array();
  for (const WhatIfPoint& point : what_if.others) others.push_back(point_document(point));
  return {{"traced_s", what_if.traced_s},
          {"captured", point_document(what_if.captured)},
          {"others", others}};
}

}  // namespace windtunnel
