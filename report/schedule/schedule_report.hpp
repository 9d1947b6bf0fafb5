// An analysed schedule as an answer and as a JSON document.
#pragma once

#include <string>
#include <vector>

#include "models/plan/schedule.hpp"
#include "policies/analysis/schedule_analysis.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "report/console/console.hpp"
#include "report/json/json.hpp"
#include "report/text/answer.hpp"

namespace windtunnel {

struct ScheduleReport {
  std::string title;
  std::vector<std::string> notes;
  Schedule schedule;
  ScheduleAnalysis analysis;
  AnalysisOptions options;  // of the analysis
  Sends sends = Sends::asynchronous;
  // If false, times and activations are plain numbers in the user's unit.
  bool in_seconds = false;
  bool in_bytes = false;
};

struct ScheduleAnswerOptions {
  std::size_t width = 0;          // of the console, for bars of activations; 0: no bars
  std::size_t max_spans = 60000;  // of the chart; the page says how many ranks it omits
};

// The order as a Gantt chart with the activations of each rank below it, bubbles, memory per rank,
// the uses of each rank's time, critical path, sensitivity. `report` must outlive the answer.
Answer schedule_answer(const ScheduleReport& report, const ScheduleAnswerOptions& options = {});

// The complete analysis, with every action's times and slack and the memory timelines. Keys ending
// in _s are in seconds, or in the unit of the given times if `units.time` is null; activations and
// bytes are treated alike. A way to send under which the order deadlocks is null.
Json schedule_document(const ScheduleReport& report);

// Draws a schedule with characters in the style of papers: a row per rank, time to the right.

// Each action shows its letter and the last digits of its unit's number that fit; a fused pair
// shows '&' and the forward's unit; '.' is idle time. Lower-case letters are chunks other than a
// rank's first. No row is longer than `width`. If `width` allows, equal times get equal widths;
// otherwise each character shows the action in the middle of its time, and some actions may be
// missing. A legend follows; colours are backgrounds.
std::string schedule_gantt(const Schedule& schedule, const ScheduleSpans& spans, int width,
                           const ConsoleStyle& style = {});

}  // namespace windtunnel
