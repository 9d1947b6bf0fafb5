// A plan as the one screen that answers: what it takes, what to start, the next best of each choice
// and what was taken for granted; the same with all that was tried; and as the document of --json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/json/json.hpp"
#include "report/summary/summary.hpp"
#include "sim/study/plan/make_plan.hpp"

namespace windtunnel {

// Parts of the answer: the figures, those of the whole training first; what it costs at other
// prices; the best with another layout; nodes, layout and what else one starts it with; a table per
// choice; and what was taken for granted.
std::vector<SummaryRow> plan_figures(const PlanReport& plan);
SummaryRow other_prices(const PlanReport& plan);
SummaryRow runner_up_row(const PlanReport& plan);
// The best layout that some measured run is like; nothing where the plan's own is so.
std::optional<SummaryRow> like_measured_row(const PlanReport& plan);
// What a few more nodes would save; nothing unless that is time and money.
std::optional<SummaryRow> more_nodes_row(const PlanReport& plan);
// How far steps of like runs were off, in one line: the page and `run` say more.
SummaryRow sureness_row(const Record& record);
SummarySection what_to_start(const PlanReport& plan);
std::vector<SummarySection> what_else(const PlanReport& plan);
SummarySection taken_section(const PlanReport& plan);

// brief: in one screen; full: with every option that was tried and every default.
enum class PlanDetail { brief, full };
// `command`: what simulates the plan again, for its last line.
Summary summarise_plan(const PlanReport& plan, const std::string& command, PlanDetail detail);

Json plan_document(const PlanReport& plan);

}  // namespace windtunnel
