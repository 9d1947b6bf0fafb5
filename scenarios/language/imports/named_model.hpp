// The model that a configuration names, as a value of the key `model`.
#pragma once

#include <filesystem>
#include <string>

#include "scenarios/language/configs/setting.hpp"

namespace windtunnel {

// The absolute path in quotes, so that it is valid wherever the scenario is written.
std::string quoted_path(const std::filesystem::path& path);

// If `said` is a config.json or a folder with one (relative to the file that says it), returns
// that; otherwise the library model that `name` ("llama3 8B") means. Throws Error at the setting if
// the library has no such model, or if the nearest one has a size other than the name says.
std::string named_model(const std::string& said, const std::string& name, const Setting& from);

}  // namespace windtunnel
