// What a captured step would take under other choices. The scenario uses the calibration from the
// trace; its own schedule is compared with the trace, and then other points are predicted.
#pragma once

#include <string>
#include <vector>

#include "models/results/iteration_report.hpp"
#include "report/summary/summary.hpp"
#include "report/text/json_text.hpp"

namespace windtunnel {

struct WhatIfPoint {
  std::string name;         // "zb-h1", "layout.pp=4 schedule=zb-h1"
  double step_s = 0;        // 0: it cannot run
  double bubble = 0;        // share of the step beyond the busiest rank's compute
  double memory_bytes = 0;  // of the fullest GPU
  std::string reason;       // why it cannot run, or does not fit
};

// `excess`: the memory by which it does not fit, in words.
WhatIfPoint what_if_point(std::string name, const IterationReport& report, std::string excess);

struct ChosenSteps {
  double traced_s = 0;
  WhatIfPoint captured;  // the scenario's own choices
  std::vector<WhatIfPoint> others;
};

SummarySection what_if_section(const ChosenSteps& what_if);
Json what_if_document(const ChosenSteps& what_if);

}  // namespace windtunnel
