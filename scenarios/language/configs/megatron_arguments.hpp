// A transformer from the arguments of Megatron-LM's training programs: "--num-layers 80
// --hidden-size 8192 ...", as they stand in a launch script. Defaults are those of
// megatron/training/arguments.py (github.com/NVIDIA/Megatron-LM). Arguments that say nothing about
// the model are passed over.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/workload/transformer.hpp"
#include "scenarios/language/configs/setting.hpp"

namespace windtunnel {

// `path` is what errors and the model are called. Throws Error with location: an argument that is
// missing, a value that is none or a shell's variable, and what settings_of_script() throws.
TransformerSpec model_of_megatron_arguments(const std::string& text, const std::string& path);

// The same of settings, each named as the argument is, also inside a map of a YAML file.
TransformerSpec model_of_megatron_settings(const std::vector<Setting>& settings,
                                           const std::string& path);

// The other way round: the arguments that say such a model, without dashes before them, a flag as
// "true". What Megatron-LM has no argument for is missing.
std::vector<std::pair<std::string, std::string>> megatron_settings_of(const TransformerSpec& model);

}  // namespace windtunnel
