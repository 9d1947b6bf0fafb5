// The page of a plan: what the training takes and what to start, the runner-up beside it, every
// other choice that was tried, where time and memory go, and what was taken for granted.
#pragma once

#include <string>

#include "sim/study/plan/make_plan.hpp"

namespace windtunnel {

// `command`: what simulates the plan again.
std::string plan_page(const PlanReport& plan, const std::string& command);

}  // namespace windtunnel
