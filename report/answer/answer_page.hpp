// The page of a command that answers in tables: the figures that matter, what to beware of, then
// charts and sections in the order of their weight. One self-contained file; without scripts its
// tables say all.
#pragma once

#include <string>

#include "report/text/answer.hpp"

namespace windtunnel {

std::string answer_page(const Answer& answer);

}  // namespace windtunnel
