// A scenario's tree as the text of a file, the other way round from parse_document().
#pragma once

#include <map>
#include <string>

#include "scenarios/language/text/document.hpp"

namespace windtunnel {

// [top-level key] what a reader of the scenario should know of it.
using PartComments = std::map<std::string, std::string>;

// A part per line, lists and the cluster an item per line, comments above their parts.
std::string scenario_text_of(const DocumentNode& tree, const PartComments& comments = {});

}  // namespace windtunnel
