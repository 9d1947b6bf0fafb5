// Machine and model as `windtunnel plan` and `windtunnel init` take them.
#pragma once

#include <filesystem>
#include <string>

#include "models/results/resolved_value.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

struct ClusterArgument {
  int nodes = 0;
  std::string node;  // a name of the library
  int gpus = 0;      // of its node, where fewer are asked for: part of a rack; 0: all of it
};

// "64 x dgx-h100", "512 x h100" (GPUs, in whole nodes or fewer than one has), "64 x 8 x h100", "32
// a100 nodes", "8 RTX 4090". Throws Error that says how it is written, with the nearest name.
ClusterArgument parse_cluster(const std::string& text);

// What part of a node differs by from the library's: its GPUs, and the NICs that go with them.
Overrides part_of_node(const ClusterArgument& cluster);

// The value of a scenario's key `model`: a name of the library, dimensions in braces, a Hugging
// Face config.json, a text with Megatron-LM's arguments, or a scenario of which the model is taken.
// Throws Error likewise.
std::string model_value(const std::string& text);

// A part of a document whose files lie in `folder`, or below it, as the working folder sees them.
DocumentNode seen_from_here(DocumentNode node, const std::filesystem::path& folder);

// The same value in a scenario that is written to `file`: what names a file names it from there.
// Empty: as it is.
std::string model_value_from(const std::string& value, const std::string& file);

}  // namespace windtunnel
