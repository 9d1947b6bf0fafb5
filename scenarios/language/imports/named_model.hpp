// The model that a configuration names, as a value of the key `model`.
#pragma once

#include <filesystem>
#include <string>

#include "scenarios/language/configs/setting.hpp"

namespace windtunnel {

// A file in quotes with its whole path, so that it is found wherever the scenario is written.
std::string quoted_path(const std::filesystem::path& path);

// `said` may be a config.json, or a folder with one, beside the file that says it; otherwise it is
// the model of the library that `name` ("llama3 8B") names. Throws Error at the setting: the
// library has no such model, or the one that is nearest has another size than the name says.
std::string named_model(const std::string& said, const std::string& name, const Setting& from);

}  // namespace windtunnel
