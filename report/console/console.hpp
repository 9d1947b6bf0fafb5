// Results as text for a terminal, and the comparison of points as an answer, which is printed so.
#pragma once

#include <string>
#include <vector>

#include "report/summary/comparison.hpp"
#include "report/summary/summary.hpp"
#include "report/text/answer.hpp"

namespace windtunnel {

// Title, where there is one, sections, and what to beware of; of rows that are figures the detail
// in brackets.
std::string answer_text(const Answer& answer, const ConsoleStyle& style = {});

// A table by step time with the speed-up against the first point that could be simulated; by
// goodput where only protection is varied. Then the infeasible points with their reasons.
// `comparison` has to outlive it.
Answer compare_answer(const Comparison& comparison, bool with_timing = false);

// Every resolved value of a scenario: key, value, default or set, origin, source.
TextTable explain_table(const std::vector<ResolvedValue>& values);

// The same for reading: first what the scenario gives and what the names in it bring along from the
// library, then the defaults; numbers to four digits.
std::string explain_text(const std::vector<ResolvedValue>& values, const ConsoleStyle& style = {});

// "layout.pp=8 batch.micro=2"; "as given" when nothing is set.
std::string set_text(const Overrides& set);

}  // namespace windtunnel
