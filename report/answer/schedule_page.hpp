// The page of a pipeline schedule on an idle network: its bubbles, the order as a Gantt chart with
// the activations of each rank below it, where each rank's time goes, and what would change it.
#pragma once

#include <string>
#include <vector>

#include "report/schedule/schedule_report.hpp"

namespace windtunnel {

struct SchedulePageOptions {
  std::size_t max_spans = 60000;  // of the chart; further ranks are left out and the page says so
};

// `more`: sections of who found the schedule, before those of its analysis.
std::string schedule_page(const ScheduleReport& report, std::vector<SummarySection> more = {},
                          const SchedulePageOptions& options = {});

}  // namespace windtunnel
