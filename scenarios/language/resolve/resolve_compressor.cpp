// The compressor of a job, from checked values: which keys its method has a use for, and measured
// errors of layers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "models/compression/compressors.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "policies/exchange/gradient_tensors.hpp"
#include "scenarios/language/library/layer_errors.hpp"
#include "scenarios/language/library/spec_fields.hpp"
#include "scenarios/language/resolve/resolve.hpp"

namespace windtunnel {
namespace {

std::string compressor_key(std::string_view number) {
  return fmt::format("communication.compressor.{}", number);
}

// Keys that this method has a use for.
std::vector<std::string_view> keys_of(const CompressorKind& kind) {
  std::vector<std::string_view> keys;
  for (const CompressorNumber& number : compressor_numbers()) {
    if (takes(kind, number)) keys.push_back(number.name);
  }
  if (takes_feedback(kind)) keys.emplace_back("feedback");
  if (!kind.usual.base.empty()) keys.insert(keys.end(), {"base", "errors"});
  return keys;
}

[[noreturn]] void refuse(const Values& values, std::string_view key, const CompressorKind& kind) {
  const std::vector<std::string_view> keys = keys_of(kind);
  values.fail(compressor_key(key), keys.empty() ? fmt::format("{} has no use for it", kind.name)
                                                : fmt::format("{} has no use for it; it takes {}",
                                                              kind.name, fmt::join(keys, ", ")));
}

// All gradients of the model as the ranks of a pipeline hold them.
std::vector<TensorShape> gradients_of(const Job& job) {
  const std::vector<ChunkCost> chunks = chunk_costs(job);
  const std::vector<int> layers = layers_per_stage(job.model, job.layout);
  std::vector<TensorShape> shapes;
  int first = 0;
  for (size_t stage = 0; stage < layers.size(); ++stage) {
    for (const StageTensor& tensor :
         stage_tensors(job, static_cast<int>(stage), first, layers[stage], chunks[stage])) {
      shapes.push_back(tensor.shape);
    }
    first += layers[stage];
  }
  return shapes;
}

void resolve_errors(const Values& values, NamedFiles& files, const CompressorKind& kind,
                    CompressorChoice& choice) {
  const std::string key = compressor_key("errors");
  if (!values.has(key)) return;
  if (kind.usual.base.empty()) refuse(values, "errors", kind);
  const std::string& name = values.text(key);
  choice.errors = values.about(key, [&] {
    return layer_errors_of(CsvTable::parse(files.text(name), files.path(name)),
                           with_usual(choice).base);
  });
}

}  // namespace

CompressorChoice resolve_compressor(const Values& values, NamedFiles& files) {
  CompressorChoice choice;
  values.fill("communication.compressor", choice);
  choice.where = values.fault_at("communication.compressor");
  const CompressorKind& kind = compressor_kind(choice.name);
  const auto check = [&](std::string_view key, bool taken) {
    if (!taken && values.has(compressor_key(key))) refuse(values, key, kind);
  };
  for (const CompressorNumber& number : compressor_numbers()) {
    check(number.name, takes(kind, number));
  }
  check("feedback", takes_feedback(kind));
  check("base", !kind.usual.base.empty());
  resolve_errors(values, files, kind, choice);
  return choice;
}

void check_compressor(const Values& values, const Job& job) {
  const CompressorChoice& choice = job.communication.compressor;
  if (!compresses(choice)) return;
  const std::vector<TensorShape> gradients = gradients_of(job);
  if (choice.errors != nullptr) {
    values.about(compressor_key("errors"), [&] { check_layer_errors(*choice.errors, gradients); });
  }
  check_compressor(choice, gradients);
}

}  // namespace windtunnel
