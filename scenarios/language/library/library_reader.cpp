#include "scenarios/language/library/library_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "models/base/find_named.hpp"
#include "models/base/quantity_range.hpp"
#include "models/calibration/compression_kernels.hpp"
#include "scenarios/language/library/kernel_laws.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/library/spec_fields.hpp"
#include "scenarios/language/text/document.hpp"
#include "scenarios/language/text/evidence.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {
namespace {

using Kind = DocumentNode::Kind;

// The limits of a number; `text` states them in errors.
struct Range {
  std::string_view text;
  double low = 0;
  bool above_low = false;  // above `low`, not equal to it
  double high = std::numeric_limits<double>::max();
  QuantityRange narrower = {};  // than that of the dimension
  bool or_zero = false;
};
constexpr Range kNotNegative{.text = "must be at least 0"};
constexpr Range kPositive{.text = "must be above 0", .above_low = true};
constexpr Range kShare{.text = "must be above 0 and at most 1", .above_low = true, .high = 1};
constexpr Range kAtLeastOne{.text = "must be at least 1", .low = 1};
constexpr Range kAddedShare{.text = "must be from 0 to 1", .high = 1};

double quantity_in(const Range& range, const DocumentNode& node, Dimension dimension,
                   const std::string& key) {
  const double value = quantity(node, dimension, key);
  if (range.or_zero && value == 0) return value;
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

const std::string& choice(const DocumentNode& map, const std::string& key,
                          const std::vector<std::string_view>& known) {
  const std::string& name = require_text(map, key);
  if (std::ranges::find(known, name) != known.end()) return name;
  throw Error(require(map, key).where, unknown_name(key, name, {known.begin(), known.end()}));
}

// Reads the common evidence of an entry, for its plain numbers.
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

// Reads a value of an entry that needs no evidence of its own.
Value read_value(const DocumentNode& map, const std::string& key, const Field& field) {
  Value value{.field = &field, .dimension = field.dimension};
  const DocumentNode& node = require(map, key);
  switch (field.scalar) {
    case ScalarType::integer:
      value.number = whole(node, key);
      if (!(value.number == 0 && zero_is_open(field)) && !field.admits(value.number)) {
        throw Error(node.where, fmt::format("{}: must be from {:.0f} to {:.0f}, not {}", key,
                                            field.low, field.high, node.text));
      }
      break;
    case ScalarType::boolean:
      value.number = flag(map, key) ? 1 : 0;
      break;
    case ScalarType::name:
      value.text = choice(map, key, field.names);
      break;
    case ScalarType::quantity: {
      const std::string text = fmt::format("must be at least {:g}", field.low);
      const Range limits = {.text = text,
                            .low = field.low,
                            .above_low = field.above_low,
                            .narrower = {field.low, field.high}};
      value.number = quantity_in(limits, node, field.dimension, key);
      break;
    }
    case ScalarType::none:
    case ScalarType::text:
    case ScalarType::interval:
      value.text = require_text(map, key);
  }
  return value;
}

bool has_most(const Field& field) {
  return field.high < std::numeric_limits<double>::max();
}

// States the limits of a number with evidence.
std::string limits_text(const Field& field) {
  if (field.low <= 0 && !field.above_low) return "must be at least 0";
  const std::string low = field.low == 0 ? "0" : format_quantity(field.low, field.dimension);
  if (field.above_low) return fmt::format("must be above {}", low);
  if (!has_most(field)) return fmt::format("must be at least {}", low);
  return fmt::format("must be from {}", range_text({field.low, field.high}, field.dimension));
}

// A row without a largest value has that of its dimension.
Range limits_of(const Field& field, const std::string& text) {
  return {.text = text,
          .low = std::max(field.low, 0.0),
          .above_low = field.above_low,
          .narrower = has_most(field) ? QuantityRange{field.low, field.high} : QuantityRange{},
          .or_zero = field.or_zero || zero_is_open(field)};
}

// Reads the members of `spec` that the entry states: those whose rows below `path` are in_entry.
// The caller reads the keys in `more`.
template <class Spec>
void read_entry(const DocumentNode& map, std::string_view path,
                std::initializer_list<std::string> more, Spec& spec) {
  std::vector<BoundRow> rows = bound_rows<Spec>(path);
  std::erase_if(rows, [](const BoundRow& row) { return row.field->in_entry == InEntry::never; });
  std::vector<std::string> known(more);
  for (const BoundRow& row : rows) known.emplace_back(row.key);
  check_keys(map, known);
  const Evidence common = common_evidence(map);
  for (const auto& [row_key, field] : rows) {
    const std::string key(row_key);
    if (field->in_entry == InEntry::must) require(map, key);
    const DocumentNode* node = map.value_of(key);
    if (node == nullptr) continue;
    if (Parameter* parameter = parameter_of(*field, spec)) {
      const std::string text = limits_text(*field);
      *parameter = read_parameter(*node, field->dimension, key, common, limits_of(*field, text));
    } else {
      field->binding.assign(&spec, read_value(map, key, *field));
    }
  }
}

template <class Spec>
void read_part(const DocumentNode& map, const std::string& key, Spec& spec) {
  const DocumentNode* part = map.value_of(key);
  if (part == nullptr) return;
  require_map(*part, key);
  read_entry(*part, "model." + key, {}, spec);
}

// Takes a CalibrationField or an InterconnectLawField.
Dimension dimension_of(const auto& field) {
  if (field.unit == "s") return Dimension::seconds;
  if (field.unit == "B") return Dimension::bytes;
  CHECK(field.unit.empty(), "calibration field {} has unit '{}'", field.name, field.unit);
  return Dimension::number;
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

// Reads kernels of compressors; the keys are their names.
template <class Kernel>
std::vector<Kernel> read_kernels(const DocumentNode& map, const std::string& section,
                                 const Range& range) {
  require_map(map, section);
  std::vector<std::string> known;
  for (const CompressionKernel& kernel : compression_kernels()) known.emplace_back(kernel.name);
  check_keys(map, known);
  std::vector<Kernel> kernels;
  for (const DocumentEntry& entry : map.entries) {
    require_map(entry.value, entry.key);  // each number states its own evidence
    kernels.push_back(
        {entry.key, read_parameter(entry.value, Dimension::number, entry.key, {}, range)});
  }
  return kernels;
}

NamedFabric read_fabric(const std::string& name, const DocumentNode& map) {
  NamedFabric named{name, {}, common_evidence(map).origin, require_text(map, "source")};
  FabricSpec& fabric = named.fabric;
  read_entry(map, "cluster.fabric", {"dimensions", "origin", "source"}, fabric);
  if (const DocumentNode* dimensions = map.value_of("dimensions")) {
    for (const DocumentNode& size : dimensions->items) {
      fabric.dimensions.push_back(whole(size, "dimensions"));
    }
  }
  for (const DocumentEntry& entry : map.entries) {
    if (belongs_to(entry.key, fabric.topology)) continue;
    throw Error(entry.value.where,
                fmt::format("{}: not of a {}", entry.key, name_of(fabric.topology)));
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
    GpuSpec gpu;
    gpu.name = entry.key;
    read_entry(map, "cluster.node.gpu", {"generation", "superchip", "origin", "source"}, gpu);
    if (map.value_of("generation") != nullptr) {
      gpu.generation = choice_of<GpuGeneration>(require(map, "generation"), "generation");
    }
    if (map.value_of("superchip") != nullptr) gpu.superchip = flag(map, "superchip");
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
    NodeSpec node;
    node.name = entry.key;
    read_entry(map, "cluster.node", {"gpu", "origin", "source"}, node);
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
    TransformerSpec model;
    model.name = entry.key;
    read_entry(map, "model", {"moe", "latent", "sparse", "mamba", "source"}, model);
    read_part(map, "moe", model.moe);
    read_part(map, "latent", model.latent);
    read_part(map, "sparse", model.sparse);
    read_part(map, "mamba", model.mamba);
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

// Reads all numbers of a law, or the word `constants`: collectives then use the calibration's
// constants.
InterconnectLaw read_whole_law(const DocumentNode& node, const std::string& key) {
  InterconnectLaw law;
  if (node.kind == DocumentNode::Kind::scalar && node.text == "constants") return law;
  require_map(node, key);
  for (const InterconnectLawField& field : interconnect_law_fields()) {
    if (field.required) require(node, std::string(field.name));
  }
  read_law_layer(node, law);
  return law;
}

namespace {

// The numbers of the map at `parameters`, in the order of calibration_fields().
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
    require_map(*value, key);  // each number states its own evidence
    numbers.emplace_back(field.member,
                         read_parameter(*value, dimension_of(field), key, {}, range_of(field)));
  }
  return numbers;
}

// The calibration that another one extends: one of the library that has no base itself.
Calibration base_calibration(const DocumentNode& base) {
  constexpr std::string_view kFolder = "calibrations/";
  constexpr std::string_view kEnding = ".yaml";
  std::vector<std::string> names;
  for (const LibraryFile& file : library_files()) {
    if (!file.path.starts_with(kFolder)) continue;
    names.emplace_back(
        file.path.substr(kFolder.size(), file.path.size() - kFolder.size() - kEnding.size()));
  }
  if (std::ranges::find(names, base.text) == names.end()) {
    throw Error(base.where, unknown_name("calibration", base.text, names));
  }
  const DocumentNode document =
      library_document(std::string(kFolder).append(base.text).append(kEnding));
  if (document.value_of("base") != nullptr) {
    throw Error(base.where, fmt::format("calibration '{}' has a base itself; use that base here, "
                                        "and state the numbers that differ",
                                        base.text));
  }
  return read_calibration(document);
}

}  // namespace

Calibration read_calibration(const DocumentNode& document) {
  require_map(document, "a calibration");
  check_keys(document, {"name", "gpu", "base", "parameters", "network", "node_network", "kernels",
                        "kernel_starts", "kernel_laws"});
  const DocumentNode* base = document.value_of("base");
  Calibration calibration = base == nullptr ? Calibration{} : base_calibration(*base);
  calibration.name = require_text(document, "name");
  const DocumentNode& gpu = require(document, "gpu");
  calibration.gpu = gpu.text;  // empty: any
  const DocumentNode& parameters = require(document, "parameters");
  for (const auto& [member, number] : read_calibration_numbers(parameters)) {
    calibration.*member = number;
  }
  for (const CalibrationField& field : calibration_fields()) {
    if (base == nullptr && field.required) require(parameters, std::string(field.name));
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
