// Tables of a Markdown page, as GitHub shows them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace windtunnel {

// On one line; what would end a cell or open a tag is escaped.
std::string markdown_text(const std::string& text);

// A line of cells.
std::string markdown_row(const std::vector<std::string>& cells);

// The two lines above the rows. `right`: from this column on, numbers.
std::string markdown_header(const std::vector<std::string>& titles, size_t right);

}  // namespace windtunnel
