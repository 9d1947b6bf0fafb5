// Fills the template of a one-file page with title, body, data and script.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "report/json/json.hpp"
#include "report/summary/summary.hpp"
#include "report/text/table.hpp"

namespace windtunnel {

std::string escape_html(std::string_view text);

// A term as HTML, with the help of the figure that has this title or else the meaning of the word
// in docs/reference/glossary.md. `group` limits the search to figures below this key.
std::string term_html(std::string_view title, std::string_view group = {});

// The first cell is the heading of its row.
std::string table_html(const TextTable& table);

// A summary consists of a header, its main figures, and sections of a table above further rows.
std::string header_html(std::string_view title, std::string_view subtitle);
std::string figures_html(const std::vector<SummaryRow>& figures);
std::string section_html(const SummarySection& section);

// What else a page may load.
enum class PageReach { nothing, its_server };

// `title` is plain text, `body` is HTML; the script draws from `data`.
std::string filled_page(std::string_view title, std::string_view body, const Json& data,
                        PageReach reach = PageReach::nothing);

// Checks that a document of this file can be drawn; `draw` reads everything that the page shows.
// Throws Error with the file's name.
void check_drawable(const std::string& file, const std::function<void()>& draw);

}  // namespace windtunnel
