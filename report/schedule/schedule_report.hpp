// An analysed schedule as an answer and as a JSON document.
#pragma once

#include <string>
#include <vector>

#include "models/plan/schedule.hpp"
#include "policies/analysis/schedule_analysis.hpp"
#include "report/json/json.hpp"
#include "report/text/answer.hpp"

namespace windtunnel {

struct ScheduleReport {
  std::string title;
  std::vector<std::string> notes;
  Schedule schedule;
  ScheduleAnalysis analysis;
  AnalysisOptions options;  // that it was made with
  Sends sends = Sends::asynchronous;
  // Otherwise times and activations are plain numbers, in the unit of what the user gave.
  bool in_seconds = false;
  bool in_bytes = false;
};

struct ScheduleAnswerOptions {
  std::size_t width = 0;          // of the console, into which bars fit; 0: there are none
  std::size_t max_spans = 60000;  // of the chart; further ranks are left out and the page says so
};

// The order as a Gantt chart with the activations of each rank below it, bubbles, memory per rank,
// where each rank's time goes, critical path, sensitivity. `report` has to outlive it.
Answer schedule_answer(const ScheduleReport& report, const ScheduleAnswerOptions& options = {});

// All of it, with every action's times and slack and the memory timelines. Keys that end in _s hold
// seconds, or the unit of the given times when `units.time` is null; likewise activations and
// bytes. A way to send under which the order deadlocks is null.
Json schedule_document(const ScheduleReport& report);

}  // namespace windtunnel
