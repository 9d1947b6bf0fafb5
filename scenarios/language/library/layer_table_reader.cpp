#include "scenarios/language/library/layer_table_reader.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "scenarios/language/text/document.hpp"

namespace windtunnel {
namespace {

int whole_or(const DocumentNode& map, const std::string& key, int otherwise) {
  const DocumentNode* value = map.value_of(key);
  return value == nullptr ? otherwise : whole(*value, key);
}

bool flag_or(const DocumentNode& map, const std::string& key, bool otherwise) {
  return map.value_of(key) == nullptr ? otherwise : flag(map, key);
}

int positive(const DocumentNode& map, const std::string& key) {
  const int value = whole(require(map, key), key);
  if (value < 1) throw Error(require(map, key).where, fmt::format("{}: must be at least 1", key));
  return value;
}

Window window_of(const DocumentNode& map) {
  return {positive(map, "kernel"), whole_or(map, "stride", 1), whole_or(map, "padding", 0)};
}

const DocumentNode& require_list(const DocumentNode& node, const std::string& what) {
  if (node.kind != DocumentNode::Kind::list) {
    throw Error(node.where, fmt::format("{}: expected a list", what));
  }
  return node;
}

// Adds the place to errors: the builder does not know it.
void placed(const DocumentNode& map, const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    throw Error(map.where, error.what());
  }
}

// Each layer is numbered among its kind: conv1, conv2, ...
class LayerReader {
 public:
  explicit LayerReader(NetworkBuilder& builder) : builder_(builder) {}

  void add_all(const DocumentNode& layers) {
    for (const DocumentNode& layer : layers.items) {
      require_map(layer, "a layer");
      add(layer);
    }
  }

 private:
  void add(const DocumentNode& map) {
    if (map.value_of("conv") != nullptr) return add_convolutions(map);
    if (map.value_of("bottleneck") != nullptr) return add_bottlenecks(map);
    if (map.value_of("basic") != nullptr) return add_basics(map);
    if (map.value_of("branches") != nullptr) return add_branches(map);
    if (map.value_of("norm") != nullptr) return add_norm(map);
    if (map.value_of("pool") != nullptr) return add_pool(map);
    if (map.value_of("fc") != nullptr) return add_linears(map);
    throw Error(map.where,
                "a layer must be one of conv, norm, bottleneck, basic, branches, pool and fc");
  }

  void add_convolutions(const DocumentNode& map) {
    check_keys(map,
               {"conv", "kernel", "stride", "padding", "norm", "bias", "relu", "repeat", "groups"});
    Convolution convolution{.channels = positive(map, "conv"), .window = window_of(map)};
    convolution.norm = flag_or(map, "norm", false);
    convolution.bias = flag_or(map, "bias", !convolution.norm);
    convolution.relu = flag_or(map, "relu", true);
    convolution.groups = whole_or(map, "groups", 1);
    for (int i = 0; i < whole_or(map, "repeat", 1); ++i) {
      const std::string name = fmt::format("conv{}", ++convolutions_);
      placed(map, [&] { builder_.convolution(name, convolution); });
      convolution.window.stride = 1;
    }
  }

  void add_bottlenecks(const DocumentNode& map) {
    check_keys(map, {"bottleneck", "stride", "repeat", "outputs", "groups"});
    add_residuals(map, "bottleneck", &NetworkBuilder::bottleneck);
  }

  void add_basics(const DocumentNode& map) {
    check_keys(map, {"basic", "stride", "repeat"});
    add_residuals(map, "basic", &NetworkBuilder::basic);
  }

  void add_residuals(const DocumentNode& map, const std::string& key,
                     void (NetworkBuilder::*add)(const std::string&, const Residual&)) {
    Residual block{.channels = positive(map, key), .stride = whole_or(map, "stride", 1)};
    block.outputs = whole_or(map, "outputs", 0);
    block.groups = whole_or(map, "groups", 1);
    ++stages_;
    for (int i = 0; i < whole_or(map, "repeat", 1); ++i) {
      const std::string name = fmt::format("layer{}.{}", stages_, i);
      placed(map, [&] { (builder_.*add)(name, block); });
      block.stride = 1;
    }
  }

  void add_branches(const DocumentNode& map) {
    check_keys(map, {"branches", "repeat"});
    const DocumentNode& branches = require_list(require(map, "branches"), "branches");
    if (branches.items.empty()) throw Error(branches.where, "branches: at least one is needed");
    for (int i = 0; i < whole_or(map, "repeat", 1); ++i) {
      const ImageShape input = builder_.shape();
      std::vector<ImageShape> outputs;
      for (const DocumentNode& branch : branches.items) {
        builder_.resume(input);
        add_all(require_list(branch, "a branch"));
        outputs.push_back(builder_.shape());
      }
      const std::string name = fmt::format("concat{}", ++concats_);
      placed(map, [&] { builder_.concat(name, outputs); });
    }
  }

  void add_norm(const DocumentNode& map) {
    check_keys(map, {"norm"});
    if (!flag(map, "norm")) throw Error(map.where, "norm: a separate norm layer must be true");
    builder_.norm(fmt::format("norm{}", ++norms_));
  }

  void add_pool(const DocumentNode& map) {
    check_keys(map, {"pool", "kernel", "stride", "padding"});
    const std::string& kind = require_text(map, "pool");
    if (kind != "max" && kind != "average") {
      throw Error(require(map, "pool").where, unknown_name("pool", kind, {"max", "average"}));
    }
    const LayerKind layer = kind == "max" ? LayerKind::max_pool : LayerKind::average_pool;
    const Window window = window_of(map);
    placed(map, [&] { builder_.pool(fmt::format("pool{}", ++pools_), layer, window); });
  }

  void add_linears(const DocumentNode& map) {
    check_keys(map, {"fc", "bias", "relu", "repeat"});
    for (int i = 0; i < whole_or(map, "repeat", 1); ++i) {
      builder_.linear(fmt::format("fc{}", ++linears_), positive(map, "fc"),
                      flag_or(map, "relu", true), flag_or(map, "bias", true));
    }
  }

  NetworkBuilder& builder_;
  int convolutions_ = 0, stages_ = 0, pools_ = 0, linears_ = 0, concats_ = 0, norms_ = 0;
};

// Reads the input: an image, or a vector of a given length.
ImageShape read_input(const DocumentNode& map) {
  const DocumentNode& input = require(map, "input");
  if (input.kind == DocumentNode::Kind::scalar) return {positive(map, "input"), 1, 1};
  require_map(input, "input");
  check_keys(input, {"channels", "height", "width"});
  return {positive(input, "channels"), positive(input, "height"), positive(input, "width")};
}

LayerTable read_network(const std::string& name, const DocumentNode& map) {
  require_map(map, name);
  check_keys(map, {"input", "layers", "source"});
  NetworkBuilder builder(read_input(map));
  LayerReader reader(builder);
  const DocumentNode& layers = require_list(require(map, "layers"), "layers");
  if (layers.items.empty()) throw Error(layers.where, "layers: expected a list");
  reader.add_all(layers);
  return {name, builder.take(), require_text(map, "source")};
}

}  // namespace

std::vector<LayerTable> read_layer_tables(const DocumentNode& document) {
  require_map(document, "networks");
  std::vector<LayerTable> networks;
  for (const DocumentEntry& entry : document.entries) {
    networks.push_back(read_network(entry.key, entry.value));
  }
  return networks;
}

LayerTable parse_network_file(const std::string& text, const std::string& path) {
  const std::string name = std::filesystem::path(path).stem().string();
  return read_network(name, parse_document(text, path));
}

}  // namespace windtunnel
