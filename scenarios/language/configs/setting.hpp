// What a training program's own configuration states, whatever it is written in: names with values
// and the places where they stand. JSON, YAML and TOML nest, and a setting's name is then its path
// ("parallelism.tensor_parallel_degree"); a launch script has arguments ("--tp 8", "tp=8"),
// directives of Slurm ("#SBATCH --nodes=8", here "sbatch.nodes") and variables that it sets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {

struct Setting {
  std::string name;   // with '_' for '-', without the dashes before it
  std::string value;  // of a flag "true"; of a list its items in brackets: "[q_proj, v_proj]"
  Location where;
};

enum class ConfigurationForm { yaml, toml, script };  // JSON is YAML

struct ConfigurationFile {
  std::string path;
  ConfigurationForm form = ConfigurationForm::yaml;
  std::vector<Setting> settings;  // in the order of the text; of a name that comes again both
};

std::string in_lower_case(std::string text);  // ASCII

// Reads the text of a file. What it is written in is told by the path's suffix, and where that says
// nothing, by the text. Throws Error with location: text that is not of its form, quotes that do
// not end.
ConfigurationFile read_configuration(const std::string& text, const std::string& path);

// "--Micro-Batch-Size" -> "micro_batch_size". A letter alone stays: "-N" and "-n" differ.
std::string setting_name(std::string_view written);

// Each reads one form, and throws as above.
std::vector<Setting> settings_of_document(const std::string& text, const std::string& path);
std::vector<Setting> settings_of_toml(const std::string& text, const std::string& path);
std::vector<Setting> settings_of_script(const std::string& text, const std::string& path);

// Values that refer to others, as OmegaConf has them: "${.hidden_size}",
// "${model.tensor_model_parallel_size}", "${multiply:4, ${.hidden_size}}", "${oc.env:NAME,8}", and
// "${NAME:8}" for a variable of the environment, which is what stands behind its ':'. What refers
// to no setting, or to one in a circle, stays as written.
std::vector<Setting> with_interpolations(std::vector<Setting> settings);

}  // namespace windtunnel
