#include "cli/plan/plan_arguments.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"
#include "models/base/units.hpp"
#include "scenarios/language/library/facts/gpu_names.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {
namespace {

constexpr const char* kClusterForms =
    "write '64 x dgx-h100' (nodes), '512 x h100' (GPUs), '64 x 8 x h100' or '64 nodes of 8 h100', "
    "with or without the x";

[[noreturn]] void refuse_cluster(const std::string& text, const std::string& why) {
  throw Error(Location{fmt::format("--cluster '{}'", excerpt(text))}, why);
}

std::string in_small_letters(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// Removes separators, so that "DGX H100", "dgx_h100" and "dgxh100" equal "dgx-h100".
std::string undivided(const std::string& name) {
  std::string plain = in_small_letters(name);
  std::erase_if(plain, [](char c) { return c == '-' || c == '_' || c == ' '; });
  return plain;
}

const NodeSpec* node_named(const std::string& name) {
  const std::vector<NodeSpec>& nodes = library_nodes();
  const auto found = std::ranges::find(nodes, undivided(name),
                                       [](const NodeSpec& node) { return undivided(node.name); });
  return found == nodes.end() ? nullptr : &*found;
}

// Whether the name begins like a node of the library ("dgx" of "dgx-h100"). An unknown name of this
// kind is an unknown node, not a GPU.
bool begins_as_node(const std::string& name) {
  const std::string plain = undivided(name);
  const auto begins_as = [&](const std::string& known) {
    return plain.starts_with(known.substr(0, known.find('-')));
  };
  const auto gpu_begins = [&](const GpuSpec& gpu) {
    return plain.starts_with(undivided(gpu.name));
  };
  return std::ranges::none_of(library_gpus(), gpu_begins) &&
         std::ranges::any_of(library_nodes(),
                             [&](const NodeSpec& node) { return begins_as(node.name); });
}

// The library's usual node with a GPU, else its first; null if the library does not have the GPU.
const NodeSpec* node_of_gpu(const std::string& name) {
  try {
    return &find_node(gpu_named(name, false).node);
  } catch (const Error&) {
    const std::vector<NodeSpec>& nodes = library_nodes();
    const auto found =
        std::ranges::find_if(nodes, [&](const NodeSpec& node) { return node.gpu.name == name; });
    return found == nodes.end() ? nullptr : &*found;
  }
}

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (const NodeSpec& node : library_nodes()) names.push_back(node.name);
  for (const GpuSpec& gpu : library_gpus()) names.push_back(gpu.name);
  return names;
}

}  // namespace

DocumentNode seen_from_here(DocumentNode node, const std::filesystem::path& folder) {
  const std::filesystem::path named = node.text;
  const std::filesystem::path suffix = named.extension();
  const bool names_file = suffix == ".json" || suffix == ".args" || suffix == ".csv" ||
                          suffix == ".yaml" || suffix == ".yml";
  if (names_file && named.is_relative()) node.text = (folder / named).lexically_normal().string();
  for (DocumentNode& item : node.items) item = seen_from_here(std::move(item), folder);
  for (DocumentEntry& entry : node.entries) {
    if (entry.key == "source") continue;  // a text, not a number
    entry.value = seen_from_here(std::move(entry.value), folder);
  }
  return node;
}

namespace {

int whole_number(const std::string& text, const std::string& digits) {
  std::string plain = digits;
  std::erase(plain, ',');
  const double number = plain.empty() || plain.size() > 8 ? 0 : std::stod(plain);
  if (number < 1 || number > 10e6)
    refuse_cluster(text, "the number of nodes or GPUs must be from 1 to 10 M");
  return static_cast<int>(number);
}

ClusterArgument whole_nodes(const std::string& text, int gpus, const NodeSpec& node) {
  const int nodes = (gpus + node.gpus - 1) / node.gpus;
  const int above = nodes * node.gpus;
  const int below = above - node.gpus;
  if (gpus == above) return {nodes, node.name};
  if (nodes == 1) return {1, node.name, gpus};
  // Jobs use whole servers. They use equal parts of racks, which are whole compute trays: on the
  // fewest racks, or on a few more if most of each rack is used (64 of 72 GPUs).
  constexpr int kServerGpus = 16;  // of the largest server; a larger node is a rack
  constexpr int kTrayGpus = 4;
  constexpr double kMostOfARack = 5.0 / 6;
  const bool rack = node.gpus > kServerGpus;
  for (int racks = nodes; rack && racks <= gpus / kTrayGpus; ++racks) {
    if (racks > nodes && gpus < kMostOfARack * racks * node.gpus) break;
    if (gpus % (racks * kTrayGpus) == 0) return {racks, node.name, gpus / racks};
  }
  refuse_cluster(
      text, fmt::format("{} GPUs do not fill whole nodes: a '{}' has {}; take {} or {}{}", gpus,
                        node.name, node.gpus, below, above,
                        rack ? ", or a number that gives each rack the same multiple of 4" : ""));
}

}  // namespace

Overrides part_of_node(const ClusterArgument& cluster) {
  if (cluster.gpus == 0) return {};
  const NodeSpec& node = find_node(cluster.node);
  const int nics = (cluster.gpus * node.nics + node.gpus - 1) / node.gpus;
  return {{"cluster.node.gpus", fmt::to_string(cluster.gpus)},
          {"cluster.node.nics", fmt::to_string(nics)}};
}

ClusterArgument parse_cluster(const std::string& text) {
  static const RE2 form(R"(\s*([0-9][0-9,]*)(?:\s*[xX*]\s*|\s+))"               // count
                        R"((?:(?i:(nodes?|gpus?))\s+(?:(?i:of|with|x)\s+)?)?)"  // nodes or GPUs
                        R"((?:([0-9]+)(?:\s*[xX*]\s*|\s+))?)"                   // GPUs of a node
                        R"(([A-Za-z][\w.-]*(?:\s+[\w.-]+)*?))"  // name of the node or GPU
                        R"((?:\s+(?i:(nodes?|gpus?)))?\s*)");
  std::string count, counted, per_node, name, noun;
  if (!RE2::FullMatch(text, form, &count, &counted, &per_node, &name, &noun)) {
    refuse_cluster(text, kClusterForms);
  }
  if (!counted.empty()) noun = counted;
  const int number = whole_number(text, count);
  name = in_small_letters(name);
  noun = in_small_letters(noun);
  static const RE2 noun_alone("(of .*|nodes?|gpus?)");
  if (RE2::FullMatch(name, noun_alone)) refuse_cluster(text, kClusterForms);
  if (const NodeSpec* node = node_named(name)) {
    if (!per_node.empty() && whole_number(text, per_node) != node->gpus) {
      refuse_cluster(text, fmt::format("a {} has {} GPUs", name, node->gpus));
    }
    if (noun.starts_with("gpu") && per_node.empty()) return whole_nodes(text, number, *node);
    return {number, node->name};
  }
  const NodeSpec* node = begins_as_node(name) ? nullptr : node_of_gpu(name);
  if (node == nullptr) {
    refuse_cluster(text, unknown_name("node or GPU", name, machine_names()));
  }
  if (!per_node.empty() && whole_number(text, per_node) != node->gpus) {
    refuse_cluster(
        text, fmt::format("the library's node with {} is '{}' with {} GPUs; name a node instead",
                          name, node->name, node->gpus));
  }
  if (!per_node.empty() || noun.starts_with("node")) return {number, node->name};
  return whole_nodes(text, number, *node);
}

bool names_node_alone(const std::string& cluster) {
  return !cluster.empty() && cluster.find_first_of("0123456789") != 0;
}

Overrides cluster_beside_file(const std::string& text) {
  if (text.empty()) return {};
  if (names_node_alone(text)) return {{"cluster.node", find_node(text).name}};
  const ClusterArgument cluster = parse_cluster(text);
  return {{"cluster.node", cluster.node}, {"cluster.nodes", std::to_string(cluster.nodes)}};
}

std::string model_value(const std::string& text) {
  if (text.starts_with("{")) return text;
  const std::vector<TransformerSpec>& models = library_models();
  const std::string small = in_small_letters(text);
  const bool known = std::ranges::find(models, small, &TransformerSpec::name) != models.end();
  if (known) return small;
  if (text.ends_with(".yaml") || text.ends_with(".yml")) {
    const DocumentNode document = parse_document(read_text_file(text), text);
    const DocumentNode* model = document.value_of("model");
    return flow_text(seen_from_here(model == nullptr ? document : *model,
                                    std::filesystem::absolute(text).parent_path()));
  }
  if (text.ends_with(".json") || text.ends_with(".args")) return fmt::format("'{}'", text);
  if (std::filesystem::exists(text)) {
    throw Error(Location{"--model"},
                fmt::format("'{}' is not a model file: a config.json of Hugging Face ends in "
                            ".json, arguments of Megatron-LM in .args, a scenario in .yaml",
                            text));
  }
  if (std::ranges::find(library_networks(), small, &LayerTable::name) != library_networks().end()) {
    throw Error(Location{"--model"},
                fmt::format("{} processes samples, but a plan counts tokens; use it in a scenario "
                            "for windtunnel run: 'model: {}'",
                            small, small));
  }
  std::vector<std::string> names;
  for (const TransformerSpec& model : models) names.push_back(model.name);
  // The library's name for "Qwen/Qwen2.5-32B" is "Qwen2.5-32B".
  const std::string name = small.substr(small.rfind('/') + 1);
  if (std::ranges::find(names, name) != names.end()) return name;
  const std::string unknown = unknown_name("model", name, names);
  throw Error(
      Location{"--model"},
      fmt::format(
          "{}{} or give a config.json of Hugging Face, or the dimensions: '{{layers: 32, ...}}'",
          unknown, unknown.ends_with('?') ? "" : ";"));
}

std::string model_value_from(const std::string& value, const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(file).parent_path();
  if (!value.starts_with("'") || folder.empty()) return "";
  const fs::path model = value.substr(1, value.size() - 2);
  if (model.is_absolute()) return "";
  // Resolves links first, because ".." after a link leads elsewhere.
  std::error_code ignored;
  const fs::path from = fs::weakly_canonical(folder, ignored);
  const fs::path relative = fs::weakly_canonical(model, ignored).lexically_relative(from);
  return fmt::format("'{}'", relative.string());
}

}  // namespace windtunnel
