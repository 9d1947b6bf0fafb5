// Collects what --help prints for every built command and its subcommands.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace windtunnel {

// Maps the path of each command ("", "run", "sweep status") to the text that its --help prints.
const std::map<std::string, std::string>& help_pages();

// Returns the first word of each entry in a part ("Subcommands:", "Options:") of a help text.
std::vector<std::string> first_words(const std::string& help, const std::string& part);

}  // namespace windtunnel
