#include "scenarios/language/library/library_reader.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <limits>

#include "models/base/find_named.hpp"
#include "models/base/quantity_range.hpp"
#include "models/calibration/compression_kernels.hpp"
#include "scenarios/language/library/kernel_laws.hpp"
#include "scenarios/language/library/spec_fields.hpp"
#include "scenarios/language/text/document_reader.hpp"
#include "scenarios/language/text/evidence.hpp"

namespace windtunnel {
namespace {

using Kind = DocumentNode::Kind;

// What a number may be; `text` says it in errors.
struct Range {
  std::string_view text;
  double low = 0;
  bool above_low = false;  // above `low`, not equal to it
  double high = std::numeric_limits<double>::max();
  QuantityRange narrower = {};  // than that of the dimension
};
constexpr Range kNotNegative{.text = "must be at least 0"};
constexpr Range kPositive{.text = "must be above 0", .above_low = true};
constexpr Range kShare{.text = "must be above 0 and at most 1", .above_low = true, .high = 1};
constexpr Range kAtLeastOne{.text = "must be at least 1", .low = 1};
constexpr Range kAddedShare{.text = "must be from 0 to 1", .high = 1};

double quantity_in(const Range& range, const DocumentNode& node, Dimension dimension,
                   const std::string& key) {
  const double value = quantity(node, dimension, key);
  const bool enough = range.above_low ? value > range.low : value >= range.low;
  if (!enough || value > range.high) {
    throw Error(node.where, fmt::format("{}: {}, not {}", key, range.text, node.text));
  }
  const QuantityRange& possible =
      range.narrower.largest > 0 ? range.narrower : quantity_range(dimension);
  if (possible.holds(value)) return value;
  throw Error(node.where, fmt::format("{}: must be from {}, not {}", key,
                                      range_text(possible, dimension), node.text));
}

// The evidence of an entry as a whole, for numbers that are written without their own.
Evidence common_evidence(const DocumentNode& entry) {
  Evidence evidence;
  if (const DocumentNode* origin = entry.value_of("origin")) {
    evidence.origin = parse_origin(origin->text, origin->where);
  }
  if (entry.value_of("source") != nullptr) evidence.source = require_text(entry, "source");
  return evidence;
}

FittedOn read_rows(const DocumentNode& map) {
  require_map(map, "fitted_on");
  check_keys(map, {"file", "where"});
  FittedOn rows;
  if (map.value_of("file") != nullptr) rows.file = require_text(map, "file");
  if (map.value_of("where") != nullptr) rows.where = require_text(map, "where");
  if (rows.file.empty() && rows.where.empty()) {
    throw Error(map.where, "fitted_on: needs file, where or both");
  }
  return rows;
}

Parameter read_parameter(const DocumentNode& node, Dimension dimension, const std::string& key,
                         const Evidence& common, const Range& range = kNotNegative) {
  Parameter parameter;
  parameter.origin = common.origin;
  parameter.source = common.source;
  if (node.kind == Kind::map) {
    check_keys(node, {"value", "low", "high", "origin", "source", "fitted_on"});
    const DocumentNode& value = require(node, "value");
    parameter.value = parameter.low = parameter.high = quantity_in(range, value, dimension, key);
    if (const DocumentNode* low = node.value_of("low")) {
      parameter.low = quantity_in(range, *low, dimension, key);
      if (parameter.low > parameter.value) {
        throw Error(low->where,
                    fmt::format("{}: low {} is above the value {}", key, low->text, value.text));
      }
    }
    if (const DocumentNode* high = node.value_of("high")) {
      parameter.high = quantity_in(range, *high, dimension, key);
      if (parameter.high < parameter.value) {
        throw Error(high->where,
                    fmt::format("{}: high {} is below the value {}", key, high->text, value.text));
      }
    }
    parameter.origin = parse_origin(require_text(node, "origin"), require(node, "origin").where);
    parameter.source = require_text(node, "source");
    if (const DocumentNode* rows = node.value_of("fitted_on")) {
      parameter.fitted_on = read_fitted_on(*rows);
    }
  } else {
    parameter.value = parameter.low = parameter.high = quantity_in(range, node, dimension, key);
  }
  if (parameter.source.empty()) throw Error(node.where, fmt::format("{}: has no source", key));
  return parameter;
}

template <class Spec>
void read_parameters(const DocumentNode& entry, std::span<const ParameterField<Spec>> fields,
                     Spec& spec) {
  const Evidence common = common_evidence(entry);
  for (const ParameterField<Spec>& field : fields) {
    const std::string key(field.key);
    const DocumentNode* value = field.required ? &require(entry, key) : entry.value_of(key);
    if (value != nullptr) {
      Range range = kNotNegative;
      range.narrower = field.range();
      spec.*field.member = read_parameter(*value, field.dimension, key, common, range);
    }
  }
}

std::vector<std::string> known_keys(const auto& fields, std::initializer_list<std::string> more) {
  std::vector<std::string> keys(more);
  for (const auto& field : fields) keys.emplace_back(field.key);
  return keys;
}

// Of a CalibrationField or a InterconnectLawField.
Dimension dimension_of(const auto& field) {
  if (field.unit == "s") return Dimension::seconds;
  if (field.unit == "B") return Dimension::bytes;
  CHECK(field.unit.empty(), "calibration field {} has unit '{}'", field.name, field.unit);
  return Dimension::number;
}

template <class Spec>
void read_sizes(const DocumentNode& map, std::span<const SizeField<Spec>> fields, Spec& spec) {
  for (const SizeField<Spec>& field : fields) {
    const std::string key(field.key);
    const DocumentNode* value = field.required ? &require(map, key) : map.value_of(key);
    if (value != nullptr) spec.*field.member = whole(*value, key);
  }
}

void read_experts(const DocumentNode& map, MixtureOfExperts& moe) {
  require_map(map, "moe");
  check_keys(map, known_keys(moe_sizes(), {"imbalance"}));
  read_sizes(map, moe_sizes(), moe);
  if (const DocumentNode* imbalance = map.value_of("imbalance")) {
    moe.imbalance = quantity_in(kAtLeastOne, *imbalance, Dimension::number, "imbalance");
  }
}

void read_latent(const DocumentNode& map, LatentAttention& latent) {
  require_map(map, "latent");
  check_keys(map, known_keys(latent_sizes(), {}));
  read_sizes(map, latent_sizes(), latent);
}

void read_mamba(const DocumentNode& map, MambaMixer& mamba) {
  require_map(map, "mamba");
  check_keys(map, known_keys(mamba_sizes(), {}));
  read_sizes(map, mamba_sizes(), mamba);
}

const Range& range_of(const CalibrationField& field) {
  switch (field.range) {
    case FieldRange::not_negative:
      break;
    case FieldRange::positive:
      return kPositive;
    case FieldRange::share:
      return kShare;
    case FieldRange::added_share:
      return kAddedShare;
    case FieldRange::at_least_one:
      return kAtLeastOne;
  }
  return kNotNegative;
}

const Range& range_of(const InterconnectLawField& field) {
  if (field.is_share) return kAddedShare;
  return field.fitted ? kPositive : kNotNegative;
}

// By the names of compressors' kernels.
template <class Kernel>
std::vector<Kernel> read_kernels(const DocumentNode& map, const std::string& section,
                                 const Range& range) {
  require_map(map, section);
  std::vector<std::string> known;
  for (const CompressionKernel& kernel : compression_kernels()) known.emplace_back(kernel.name);
  check_keys(map, known);
  std::vector<Kernel> kernels;
  for (const DocumentEntry& entry : map.entries) {
    require_map(entry.value, entry.key);  // each number names its own evidence
    kernels.push_back(
        {entry.key, read_parameter(entry.value, Dimension::number, entry.key, {}, range)});
  }
  return kernels;
}

NamedFabric read_fabric(const std::string& name, const DocumentNode& map) {
  std::vector<std::string> keys = known_keys(
      fabric_parameters(), {"topology", "transport", "routing", "dimensions", "origin", "source"});
  for (const SizeField<FabricSpec>& field : fabric_sizes()) keys.emplace_back(field.key);
  for (const FabricRatio& ratio : fabric_ratios()) keys.emplace_back(ratio.key);
  check_keys(map, keys);
  NamedFabric named{name, {}, common_evidence(map).origin, require_text(map, "source")};
  FabricSpec& fabric = named.fabric;
  fabric.topology = choice_of<Topology>(require(map, "topology"), "topology");
  fabric.transport = choice_of<Transport>(require(map, "transport"), "transport");
  if (map.value_of("routing") != nullptr)
    fabric.routing = choice_of<Routing>(require(map, "routing"), "routing");
  read_parameters(map, fabric_parameters(), fabric);
  read_sizes(map, fabric_sizes(), fabric);
  for (const FabricRatio& ratio : fabric_ratios()) {
    const std::string key(ratio.key);
    const DocumentNode* value = map.value_of(key);
    if (value != nullptr) {
      fabric.*ratio.member = quantity_in(kAtLeastOne, *value, Dimension::number, key);
    }
  }
  if (const DocumentNode* dimensions = map.value_of("dimensions")) {
    for (const DocumentNode& size : dimensions->items) {
      fabric.dimensions.push_back(whole(size, "dimensions"));
    }
  }
  for (const std::string& key : keys) {
    const DocumentNode* value = map.value_of(key);
    if (value == nullptr || belongs_to(key, fabric.topology)) continue;
    throw Error(value->where, fmt::format("{}: not of a {}", key, name_of(fabric.topology)));
  }
  return named;
}

}  // namespace

std::vector<FittedOn> read_fitted_on(const DocumentNode& node) {
  if (node.kind != Kind::list) return {read_rows(node)};
  std::vector<FittedOn> all;
  for (const DocumentNode& item : node.items) all.push_back(read_rows(item));
  return all;
}

Parameter read_number(const DocumentNode& node, Dimension dimension, const std::string& key) {
  return read_parameter(node, dimension, key, {});
}

std::vector<GpuSpec> read_gpus(const DocumentNode& document) {
  require_map(document, "GPUs");
  std::vector<GpuSpec> gpus;
  for (const DocumentEntry& entry : document.entries) {
    require_map(entry.value, entry.key);
    const DocumentNode& map = entry.value;
    check_keys(map, known_keys(gpu_fields(), {"generation", "superchip", "origin", "source"}));
    GpuSpec gpu;
    gpu.name = entry.key;
    if (map.value_of("generation") != nullptr) {
      gpu.generation = choice_of<GpuGeneration>(require(map, "generation"), "generation");
    }
    if (map.value_of("superchip") != nullptr) gpu.superchip = flag(map, "superchip");
    read_parameters(map, gpu_fields(), gpu);
    gpus.push_back(gpu);
  }
  return gpus;
}

std::vector<NodeSpec> read_nodes(const DocumentNode& document, const std::vector<GpuSpec>& gpus) {
  require_map(document, "nodes");
  std::vector<NodeSpec> nodes;
  for (const DocumentEntry& entry : document.entries) {
    const DocumentNode& map = entry.value;
    require_map(map, entry.key);
    check_keys(map, known_keys(node_fields(), {"gpu", "gpus", "package_gpus", "nics", "gpu_path",
                                               "origin", "source"}));
    NodeSpec node;
    node.name = entry.key;
    read_parameters(map, node_fields(), node);
    node.gpus = whole(require(map, "gpus"), "gpus");
    if (const DocumentNode* package = map.value_of("package_gpus")) {
      node.package_gpus = whole(*package, "package_gpus");
    }
    node.nics = whole(require(map, "nics"), "nics");
    if (map.value_of("gpu_path") != nullptr)
      node.gpu_path = choice_of<GpuPath>(require(map, "gpu_path"), "gpu_path");
    node.gpu = find_named(gpus, "gpu", require_text(map, "gpu"), require(map, "gpu").where);
    nodes.push_back(node);
  }
  return nodes;
}

std::vector<TransformerSpec> read_models(const DocumentNode& document) {
  require_map(document, "models");
  std::vector<TransformerSpec> models;
  for (const DocumentEntry& entry : document.entries) {
    const DocumentNode& map = entry.value;
    require_map(map, entry.key);
    std::vector<std::string> keys =
        known_keys(model_sizes(), {"activation", "normalisation", "position", "attention", "moe",
                                   "latent", "mamba", "hybrid_override_pattern", "source"});
    for (const ModelFlag& field : model_flags()) keys.emplace_back(field.key);
    check_keys(map, keys);
    TransformerSpec model;
    model.name = entry.key;
    read_sizes(map, model_sizes(), model);
    for (const ModelFlag& field : model_flags()) {
      const std::string key(field.key);
      if (field.required || map.value_of(key) != nullptr) model.*field.member = flag(map, key);
    }
    model.activation = choice_of<Activation>(require(map, "activation"), "activation");
    model.normalisation = choice_of<Normalisation>(require(map, "normalisation"), "normalisation");
    model.position = choice_of<PositionEncoding>(require(map, "position"), "position");
    model.attention = choice_of<AttentionKernel>(require(map, "attention"), "attention");
    if (const DocumentNode* moe = map.value_of("moe")) read_experts(*moe, model.moe);
    if (const DocumentNode* latent = map.value_of("latent")) read_latent(*latent, model.latent);
    if (const DocumentNode* mamba = map.value_of("mamba")) read_mamba(*mamba, model.mamba);
    if (map.value_of("hybrid_override_pattern") != nullptr) {
      model.pattern = require_text(map, "hybrid_override_pattern");
    }
    model.source = require_text(map, "source");
    try {
      check_model(model);
    } catch (const Error& error) {
      throw Error(map.where, error.what());
    }
    models.push_back(model);
  }
  return models;
}

std::vector<NamedFabric> read_fabrics(const DocumentNode& document) {
  require_map(document, "fabrics");
  std::vector<NamedFabric> fabrics;
  for (const DocumentEntry& entry : document.entries) {
    const DocumentNode& map = entry.value;
    require_map(map, entry.key);
    fabrics.push_back(read_fabric(entry.key, map));
  }
  return fabrics;
}

// All numbers of a law, or the word for none: collectives by the calibration's constants.
InterconnectLaw read_whole_law(const DocumentNode& node, const std::string& key) {
  InterconnectLaw law;
  if (node.kind == DocumentNode::Kind::scalar && node.text == "constants") return law;
  require_map(node, key);
  for (const InterconnectLawField& field : interconnect_law_fields()) {
    require(node, std::string(field.name));
  }
  read_law_layer(node, law);
  return law;
}

std::vector<std::pair<Parameter Calibration::*, Parameter>> read_calibration_numbers(
    const DocumentNode& parameters) {
  require_map(parameters, "parameters");
  std::vector<std::string> keys;
  for (const CalibrationField& field : calibration_fields()) keys.emplace_back(field.name);
  check_keys(parameters, keys);
  std::vector<std::pair<Parameter Calibration::*, Parameter>> numbers;
  for (const CalibrationField& field : calibration_fields()) {
    const std::string key(field.name);
    const DocumentNode* value = parameters.value_of(key);
    if (value == nullptr) continue;
    require_map(*value, key);  // no evidence in common: each number names its own
    numbers.emplace_back(field.member,
                         read_parameter(*value, dimension_of(field), key, {}, range_of(field)));
  }
  return numbers;
}

Calibration read_calibration(const DocumentNode& document) {
  require_map(document, "a calibration");
  check_keys(document, {"name", "gpu", "parameters", "network", "node_network", "kernels",
                        "kernel_starts", "kernel_laws"});
  Calibration calibration;
  calibration.name = require_text(document, "name");
  const DocumentNode& gpu = require(document, "gpu");
  calibration.gpu = gpu.text;  // empty: any
  const DocumentNode& parameters = require(document, "parameters");
  for (const auto& [member, number] : read_calibration_numbers(parameters)) {
    calibration.*member = number;
  }
  for (const CalibrationField& field : calibration_fields()) {
    if (field.required) require(parameters, std::string(field.name));
  }
  if (const DocumentNode* network = document.value_of("network")) {
    calibration.network = read_whole_law(*network, "network");
  }
  if (const DocumentNode* network = document.value_of("node_network")) {
    calibration.node_network = read_whole_law(*network, "node_network");
  }
  if (const DocumentNode* kernels = document.value_of("kernels")) {
    calibration.kernels = read_kernels<KernelShare>(*kernels, "kernels", kShare);
  }
  if (const DocumentNode* starts = document.value_of("kernel_starts")) {
    calibration.kernel_starts = read_kernels<KernelStarts>(*starts, "kernel_starts", kNotNegative);
  }
  if (const DocumentNode* laws = document.value_of("kernel_laws")) {
    calibration.kernel_laws = read_kernel_laws(*laws);
  }
  return calibration;
}

void read_law_layer(const DocumentNode& layer, InterconnectLaw& law) {
  require_map(layer, "network");
  std::vector<std::string> keys = {"origin", "source"};
  for (const InterconnectLawField& field : interconnect_law_fields()) keys.emplace_back(field.name);
  check_keys(layer, keys);
  const Evidence common = common_evidence(layer);
  for (const InterconnectLawField& field : interconnect_law_fields()) {
    const std::string key(field.name);
    if (const DocumentNode* value = layer.value_of(key)) {
      law.*field.member = read_parameter(*value, dimension_of(field), key, common, range_of(field));
    }
  }
  law.stated = true;
}

}  // namespace windtunnel
