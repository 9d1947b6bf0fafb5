// Template and script bundle of the page, and the words that it explains; page_assets.cpp is
// generated from report/web and docs/reference/glossary.md at build time.
#pragma once

#include <span>
#include <string_view>

namespace windtunnel {

// Holds the marks {{title}}, {{body}}, {{data}} and {{script}}, each once.
std::string_view page_template();
std::string_view page_script();  // safe inside of a <script> element

// A row of docs/reference/glossary.md; of one with several words, one of them.
struct PageWord {
  std::string_view word, meaning;
};
std::span<const PageWord> page_glossary();

}  // namespace windtunnel
