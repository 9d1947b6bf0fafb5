// The settings in a training program's own configuration, independent of the file format: names,
// values and places. JSON, YAML and TOML nest, and a setting's name is then its path
// ("parallelism.tensor_parallel_degree"); a launch script has arguments ("--tp 8", "tp=8"),
// directives of Slurm ("#SBATCH --nodes=8", here "sbatch.nodes") and variables that it sets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {

struct Setting {
  std::string name;   // with '_' for '-', without leading dashes
  std::string value;  // "true" for a flag; a list in brackets: "[q_proj, v_proj]"
  Location where;
};

enum class ConfigurationForm { yaml, toml, script };  // JSON is YAML

struct ConfigurationFile {
  std::string path;
  ConfigurationForm form = ConfigurationForm::yaml;
  std::vector<Setting> settings;  // in the order of the text; a repeated name appears repeatedly
};

std::string in_lower_case(std::string text);  // ASCII

// Reads the text of a file. The path's suffix tells the format, or else the text itself. Throws
// Error with location: text that is not of that format, quotes that do not end.
ConfigurationFile read_configuration(const std::string& text, const std::string& path);

// "--Micro-Batch-Size" -> "micro_batch_size". A single letter keeps its case: "-N" and "-n" differ.
std::string setting_name(std::string_view written);

// Each reads one format, and throws as read_configuration() does.
std::vector<Setting> settings_of_document(const std::string& text, const std::string& path);
std::vector<Setting> settings_of_toml(const std::string& text, const std::string& path);
std::vector<Setting> settings_of_script(const std::string& text, const std::string& path);

// Resolves values that refer to others, in OmegaConf's syntax: "${.hidden_size}",
// "${model.tensor_model_parallel_size}", "${multiply:4, ${.hidden_size}}", "${oc.env:NAME,8}"; and
// "${NAME:8}", an environment variable, which becomes the default after its ':'. A reference to no
// setting, or a circular one, stays as written.
std::vector<Setting> with_interpolations(std::vector<Setting> settings);

}  // namespace windtunnel
