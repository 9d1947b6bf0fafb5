// Template and script bundle of the page; page_assets.cpp is generated from report/web at build
// time.
#pragma once

#include <string_view>

namespace windtunnel {

// Holds the marks {{title}}, {{body}}, {{data}} and {{script}}, each once.
std::string_view page_template();
std::string_view page_script();  // safe inside of a <script> element

}  // namespace windtunnel
