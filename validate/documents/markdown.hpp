// Tables of a Markdown page, as GitHub shows them.
#pragma once

#include <string>

#include "report/text/table.hpp"

namespace windtunnel {

// On one line, with characters escaped that would end a cell or open a tag.
std::string markdown_text(const std::string& text);

std::string markdown_table(const TextTable& table);

}  // namespace windtunnel
