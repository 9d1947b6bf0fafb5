#include "scenarios/language/library/power_watts.hpp"

#include <fmt/format.h>

#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/document_reader.hpp"
#include "scenarios/language/text/evidence.hpp"

namespace windtunnel {
namespace {

const DocumentNode& watts_document() {
  static const DocumentNode document = library_document("power.yaml");
  return document;
}

Parameter read_watts(const DocumentNode& map, const std::string& key) {
  require_map(map, key);
  check_keys(map, {"value", "low", "high", "origin", "source"});
  const auto number = [&](const char* name, double otherwise) {
    const DocumentNode* node = map.value_of(name);
    return node == nullptr ? otherwise : quantity(*node, Dimension::number, key);
  };
  Parameter watts;
  watts.value = quantity(require(map, "value"), Dimension::number, key);
  watts.low = number("low", watts.value);
  watts.high = number("high", watts.value);
  if (!(watts.low >= 0 && watts.low <= watts.value && watts.value <= watts.high)) {
    throw Error(map.where, fmt::format("{}: low to value to high must ascend from 0", key));
  }
  watts.origin = parse_origin(require_text(map, "origin"), require(map, "origin").where);
  watts.source = require_text(map, "source");
  return watts;
}

}  // namespace

std::optional<GpuWatts> watts_of_gpu(const std::string& gpu) {
  const DocumentNode* entry = require(watts_document(), "gpus").value_of(gpu);
  if (entry == nullptr) return std::nullopt;
  return GpuWatts{read_watts(require(*entry, "peak"), gpu),
                  read_watts(require(*entry, "idle"), gpu)};
}

Parameter rest_watts_of(const NodeSpec& node) {
  if (const DocumentNode* own = require(watts_document(), "nodes").value_of(node.name)) {
    return read_watts(*own, node.name);
  }
  Parameter watts = read_watts(require(watts_document(), "rest_per_gpu"), "rest_per_gpu");
  for (double* each : {&watts.value, &watts.low, &watts.high}) *each *= node.gpus;
  return watts;
}

}  // namespace windtunnel
