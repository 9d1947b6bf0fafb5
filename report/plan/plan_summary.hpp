// A plan as the one screen that answers: what it takes, what to start, what else was tried and what
// was taken for granted; and as the document of --json.
#pragma once

#include <string>

#include "report/json/json.hpp"
#include "report/summary/summary.hpp"
#include "sim/study/plan/make_plan.hpp"

namespace windtunnel {

// `command`: what simulates the plan again, for its last line.
Summary summarise_plan(const PlanReport& plan, const std::string& command);

Json plan_document(const PlanReport& plan);

}  // namespace windtunnel
