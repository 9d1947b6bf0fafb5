// Reads the machine and model arguments of `windtunnel plan` and `windtunnel init`.
#pragma once

#include <filesystem>
#include <string>

#include "models/results/resolved_value.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

struct ClusterArgument {
  int nodes = 0;
  std::string node;  // a name of the library
  int gpus = 0;      // GPUs used per node, for a part of a rack; 0: all of the node
};

// "64 x dgx-h100", "512 x h100" (GPUs: whole nodes, a part of one, equal parts of racks), "64 x 8 x
// h100", "32 a100 nodes", "8 RTX 4090". Throws Error that explains the syntax, with the nearest
// name.
ClusterArgument parse_cluster(const std::string& text);

// Whether --cluster states only a node, because a file states how many.
bool names_node_alone(const std::string& cluster);

// The keys of a machine that a file may leave out: "16 x dgx-h100", or only a node if the file
// states the number. Throws Error as parse_cluster() does.
Overrides cluster_beside_file(const std::string& text);

// If only some GPUs of each node are used, returns the keys that state their number and NICs.
Overrides part_of_node(const ClusterArgument& cluster);

// Returns the value of a scenario's key `model` for an argument: a name of the library, dimensions
// in braces, a Hugging Face config.json, a text with Megatron-LM's arguments, or a scenario whose
// model is used. Throws Error that explains the syntax, with the nearest name.
std::string model_value(const std::string& text);

// Rewrites the paths in a part of a document in `folder` so that they hold from the working folder.
DocumentNode seen_from_here(DocumentNode node, const std::filesystem::path& folder);

// Rewrites a path in `value` so that it holds from `file`, where the scenario will be written.
// Empty if no change is needed.
std::string model_value_from(const std::string& value, const std::string& file);

}  // namespace windtunnel
