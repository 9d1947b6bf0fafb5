// Template and scripts of the pages, and the glossary. The build generates page_assets.cpp from
// report/web and docs/reference/glossary.md.
#pragma once

#include <span>
#include <string_view>

namespace windtunnel {

// Contains the marks {{title}}, {{body}}, {{data}} and {{script}}, each once.
std::string_view page_template();
std::string_view page_script();  // safe inside of a <script> element

// A row of docs/reference/glossary.md; a row with several words becomes an entry for each.
struct PageWord {
  std::string_view word, meaning;
};
std::span<const PageWord> page_glossary();

}  // namespace windtunnel
