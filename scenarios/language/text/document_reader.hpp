// Parts of a document that must be there and of a type, for the readers of the library's files.
// Each function throws Error with the place of what is wrong.
#pragma once

#include <string>
#include <vector>

#include "models/base/units.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

const DocumentNode& require(const DocumentNode& map, const std::string& key);
void require_map(const DocumentNode& node, const std::string& what);
const std::string& require_text(const DocumentNode& map, const std::string& key);
void check_keys(const DocumentNode& map, const std::vector<std::string>& known);

// `key` is what errors call the value.
double quantity(const DocumentNode& node, Dimension dimension, const std::string& key);
int whole(const DocumentNode& node, const std::string& key);
bool flag(const DocumentNode& map, const std::string& key);

}  // namespace windtunnel
