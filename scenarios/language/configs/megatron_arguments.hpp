// A transformer from the arguments of Megatron-LM's training programs as a launch script has them:
// "--num-layers 80 --hidden-size 8192 ...". Defaults are those of megatron/training/arguments.py
// (github.com/NVIDIA/Megatron-LM). Arguments that do not describe the model are ignored.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/workload/transformer.hpp"
#include "scenarios/language/configs/setting.hpp"

namespace windtunnel {

// `path` names the file in errors and becomes the model's name. Throws Error with location: a
// missing argument, a value of the wrong type or an unset shell variable, and whatever
// settings_of_script() throws.
TransformerSpec model_of_megatron_arguments(const std::string& text, const std::string& path);

// The same from settings that are named as the arguments are, also inside a map of a YAML file.
TransformerSpec model_of_megatron_settings(const std::vector<Setting>& settings,
                                           const std::string& path);

// The reverse: the arguments that describe a model, without leading dashes; a flag has the value
// "true". Properties that no argument of Megatron-LM expresses are omitted.
std::vector<std::pair<std::string, std::string>> megatron_settings_of(const TransformerSpec& model);

}  // namespace windtunnel
