#include "scenarios/language/library/facts/power_watts.hpp"

#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/document_reader.hpp"

namespace windtunnel {
namespace {

const DocumentNode& watts_document() {
  static const DocumentNode document = library_document("power.yaml");
  return document;
}

Parameter read_watts(const DocumentNode& node, const std::string& key) {
  return read_number(node, Dimension::number, key);
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

std::vector<FittedOn> watts_fitted_on() {
  return read_fitted_on(require(watts_document(), "fitted_on"));
}

}  // namespace windtunnel
