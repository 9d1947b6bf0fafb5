// A plan as an answer: what it takes, what to start, the next best of each choice and what was
// taken for granted; on its page every choice that was tried, and where time and memory go.
#pragma once

#include <string>

#include "report/text/answer.hpp"
#include "sim/study/plan/make_plan.hpp"

namespace windtunnel {

// The console shows one screen, or every option that was tried and every default. A page has all of
// it.
enum class PlanDetail { brief, full };
// `command`: what simulates the plan again. `plan` has to outlive the answer.
Answer plan_answer(const PlanReport& plan, const std::string& command, PlanDetail detail);

}  // namespace windtunnel
