// Draws a schedule with characters in the style of papers: a row per rank, time to the right.
#pragma once

#include <string>

#include "models/plan/schedule.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "report/console/console.hpp"

namespace windtunnel {

// Each action shows its letter and the last digits of its unit's number that fit; a fused pair
// shows '&' and the forward's unit; '.' is idle time. Lower-case letters are chunks other than a
// rank's first. No row is longer than `width`. If `width` allows, equal times get equal widths;
// otherwise each character shows the action in the middle of its time, and some actions may be
// missing. A legend follows; colours are backgrounds.
std::string schedule_gantt(const Schedule& schedule, const ScheduleSpans& spans, int width,
                           const ConsoleStyle& style = {});

}  // namespace windtunnel
