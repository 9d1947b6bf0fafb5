#include "report/summary/fused_summary.hpp"

#include <fmt/format.h>

#include "models/results/fused_report.hpp"
#include "report/figures/figures.hpp"

namespace windtunnel {

SummarySection fused_section(const Record& record) {
  SummarySection section{"Jobs fused on one GPU", {}};
  section.table.columns = {{"jobs", Align::right},
                           {"step of all", Align::right},
                           {"speed-up", Align::right},
                           {"memory", Align::right},
                           {"fits"}};
  for (const FusedPoint& point : record.fused->points) {
    section.table.rows.push_back(
        {value_text(Unit::whole, point.jobs), value_text(Unit::seconds, point.step_s),
         fmt::format("{:.2f}", point.speedup), value_text(Unit::memory, point.memory_bytes),
         point.fits ? "yes" : "no"});
  }
  for (const Figure* each : figures_below("fused")) {
    const std::string text = each->text(record);
    if (!text.empty()) section.rows.push_back({each->title, text});
  }
  return section;
}

}  // namespace windtunnel
