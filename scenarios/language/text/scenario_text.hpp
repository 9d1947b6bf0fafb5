// Writes the tree of a scenario as the text of a file, the reverse of parse_document().
#pragma once

#include <map>
#include <string>

#include "scenarios/language/text/document.hpp"

namespace windtunnel {

// [top-level key] A comment above that part of the scenario.
using PartComments = std::map<std::string, std::string>;

// One part per line; lists and the cluster have one item per line. Comments stand above their
// parts.
std::string scenario_text_of(const DocumentNode& tree, const PartComments& comments = {});

}  // namespace windtunnel
