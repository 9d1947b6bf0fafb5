// Draws the page of a command that answers in tables: the main figures, warnings, then charts and
// sections by importance. The page is one self-contained file; its tables are complete without
// scripts.
#pragma once

#include <string>

#include "report/text/answer.hpp"

namespace windtunnel {

std::string answer_page(const Answer& answer);

}  // namespace windtunnel
