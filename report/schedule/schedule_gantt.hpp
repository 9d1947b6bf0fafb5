// A schedule as characters, as the papers draw them: a row per rank, time to the right.
#pragma once

#include <string>

#include "models/plan/schedule.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "report/console/console.hpp"

namespace windtunnel {

// Each action is its letter and as much of its unit's number as fits, the last digits first; a pair
// that runs as one is '&' and the forward's unit; '.' is idle time. Lower-case letters are chunks
// other than a rank's first. Equal times get equal widths where `width`, which no row exceeds,
// allows; where it does not, each character is what runs in the middle of its time, so that some
// actions do not show. With a legend; colours are backgrounds.
std::string schedule_gantt(const Schedule& schedule, const ScheduleSpans& spans, int width,
                           const ConsoleStyle& style = {});

}  // namespace windtunnel
