// A page of one file: the template with its title, body, data and script filled in.
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

// What a figure is called, with what it says where one of that title is meant; else a word of
// docs/reference/glossary.md with its meaning. `group`: it is one of the figures below this key.
std::string term_html(std::string_view title, std::string_view group = {});

// The first cell of a row names it.
std::string table_html(const TextTable& table);

// The parts of a summary: its head, the figures that matter most, and a section, with its table
// above its rows.
std::string header_html(std::string_view title, std::string_view subtitle);
std::string figures_html(const std::vector<SummaryRow>& figures);
std::string section_html(const SummarySection& section);

// What a page may load beside itself.
enum class PageReach { nothing, its_server };

// `title` as plain text, `body` as HTML; `data` is what the script draws from.
std::string filled_page(std::string_view title, std::string_view body, const Json& data,
                        PageReach reach = PageReach::nothing);

// Whether a document of this file can be drawn: `draw` reads all that the page shows. Throws Error
// with the file's name.
void check_drawable(const std::string& file, const std::function<void()>& draw);

}  // namespace windtunnel
