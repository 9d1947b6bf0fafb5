// A transformer from the arguments of Megatron-LM's training programs: "--num-layers 80
// --hidden-size 8192 ...", as they stand in a launch script. Defaults are those of
// megatron/training/arguments.py (github.com/NVIDIA/Megatron-LM). Arguments that say nothing about
// the model are passed over.
#pragma once

#include <string>

#include "models/workload/transformer.hpp"

namespace windtunnel {

// `path` is what errors and the model are called. Blanks, line ends, "\" at them and quotes
// separate arguments; "--key=value" is "--key value", '#' begins a comment. Throws Error with
// location: an argument that is missing, a value that is none or a shell's variable.
TransformerSpec model_of_megatron_arguments(const std::string& text, const std::string& path);

}  // namespace windtunnel
