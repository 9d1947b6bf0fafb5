// An analysed schedule as text for a terminal and as a JSON document.
#pragma once

#include <string>
#include <vector>

#include "models/plan/schedule.hpp"
#include "policies/analysis/schedule_analysis.hpp"
#include "report/console/console.hpp"
#include "report/json/json.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {

// All must outlive it.
struct ScheduleReport {
  std::string title;
  const std::vector<std::string>& notes;
  const Schedule& schedule;
  const ScheduleAnalysis& analysis;
  const AnalysisOptions& options;  // that it was made with
  Sends sends = Sends::asynchronous;
  // Otherwise times and activations are plain numbers, in the unit of what the user gave.
  bool in_seconds = false;
  bool in_bytes = false;
};

// Bubbles, memory per rank, where each rank's time goes, critical path, sensitivity. Tables fit
// into `width` where their numbers do.
std::string schedule_text(const ScheduleReport& report, int width, const ConsoleStyle& style = {});

// The same as a page has it: the figures that matter most, and a section for each part.
std::vector<SummaryRow> schedule_figures(const ScheduleReport& report);
std::vector<SummarySection> schedule_sections(const ScheduleReport& report);

// All of it, with every action's times and slack and the memory timelines. Keys that end in _s hold
// seconds, or the unit of the given times when `units.time` is null; likewise activations and
// bytes. A way to send under which the order deadlocks is null.
Json schedule_document(const ScheduleReport& report);

}  // namespace windtunnel
