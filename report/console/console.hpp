// Prints answers as text for a terminal, and makes the answer that compares points.
#pragma once

#include <string>
#include <vector>

#include "report/summary/comparison_columns.hpp"
#include "report/summary/summary.hpp"
#include "report/text/answer.hpp"

namespace windtunnel {

// Prints the title if there is one, the sections and the warnings. In rows of figures the detail is
// in brackets.
std::string answer_text(const Answer& answer, const ConsoleStyle& style = {});

// A table by step time with the speed-up over the first point that could be simulated, or by
// goodput if only protection varies; then the infeasible points with their reasons. `comparison`
// must outlive the answer.
Answer compare_answer(const Comparison& comparison, bool with_timing = false);

// Every resolved value of a scenario: key, value, whether it is a default, origin, source.
TextTable explain_table(const std::vector<ResolvedValue>& values);

// The same for people: first what the scenario states and what its names bring from the library,
// then the defaults; numbers have four digits.
std::string explain_text(const std::vector<ResolvedValue>& values, const ConsoleStyle& style = {});

// "layout.pp=8 batch.micro=2"; "as given" when nothing is set.
std::string set_text(const Overrides& set);

}  // namespace windtunnel
