// Collects what --help prints for every built command and its subcommands.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace windtunnel {

// Pages by the command's path: "", "run", "sweep status".
const std::map<std::string, std::string>& help_pages();

// The first word of each line of a part of a help ("Subcommands:", "Options:").
std::vector<std::string> first_words(const std::string& help, const std::string& part);

}  // namespace windtunnel
