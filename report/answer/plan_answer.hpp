// A plan as an answer: its cost, what to launch, the next best option of each choice, and the
// assumptions. The page adds every option that was tried, and where time and memory go.
#pragma once

#include <string>

#include "report/text/answer.hpp"
#include "sim/study/plan/make_plan.hpp"

namespace windtunnel {

// Brief fits the console on one screen; full has every option that was tried and every default. A
// page is always full.
enum class PlanDetail { brief, full };
// `command` runs the plan again. `plan` must outlive the answer.
Answer plan_answer(const PlanReport& plan, const std::string& command, PlanDetail detail);

}  // namespace windtunnel
