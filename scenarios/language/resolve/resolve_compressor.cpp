// The compressors of a job, from checked values: the axis of each, the keys that its method uses,
// and measured errors of layers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "models/compression/activation_codec.hpp"
#include "models/compression/compressors.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "policies/exchange/gradient_tensors.hpp"
#include "scenarios/language/library/layer_errors.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "scenarios/language/text/choices.hpp"

namespace windtunnel {
namespace {

// The key below which the scenario describes compression of gradients.
std::string gradients_at(const Values& values) {
  for (const std::string& place : values.items("compress")) {
    if (values.text(place + ".axis") == "dp") return place;
  }
  return "communication.compressor";
}

// Keys that this method uses.
std::vector<std::string_view> keys_of(const CompressorKind& kind) {
  std::vector<std::string_view> keys;
  for (const CompressorNumber& number : compressor_numbers()) {
    if (takes(kind, number)) keys.push_back(number.name);
  }
  if (takes_feedback(kind)) keys.emplace_back("feedback");
  if (!kind.usual.base.empty()) keys.insert(keys.end(), {"base", "errors"});
  return keys;
}

[[noreturn]] void refuse(const Values& values, const std::string& key, const CompressorKind& kind) {
  const std::vector<std::string_view> keys = keys_of(kind);
  values.fail(key, keys.empty() ? fmt::format("{} does not use it", kind.name)
                                : fmt::format("{} does not use it; its keys are {}", kind.name,
                                              fmt::join(keys, ", ")));
}

// All gradients of the model as the ranks of a pipeline hold them. Recomputation does not change
// them, and may not be chosen yet.
std::vector<TensorShape> gradients_of(Job job) {
  if (job.recompute == Recompute::automatic) job.recompute = Recompute::none;
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

void resolve_errors(const Values& values, const std::string& place, NamedFiles& files,
                    const CompressorKind& kind, CompressorChoice& choice) {
  const std::string key = place + ".errors";
  if (!values.has(key)) return;
  if (kind.usual.base.empty()) refuse(values, key, kind);
  const std::string& name = values.text(key);
  choice.errors = values.about(key, [&] {
    return layer_errors_of(CsvTable::parse(files.text(name), files.path(name)),
                           with_usual(choice).base);
  });
}

// Refuses axes whose algorithm sends values that no compressor can quantise.
void check_inner_compressors(const Job& job) {
  const AxisCompressors& compressors = job.communication.compressors;
  const Layout& layout = job.layout;
  const auto fail = [](const CompressorChoice& choice, const char* what) {
    throw Error(choice.where, what);
  };
  if (compresses(compressors.tp) && layout.mesh_side() > 1) {
    fail(compressors.tp,
         "compress: axis tp: with layout.tp_form 2d ranks also send weights and partial sums, "
         "whose compression is not modelled; take layout.tp_form: 1d");
  }
  if (!compresses(compressors.cp)) return;
  const bool quantises = layout.context == ContextForm::ring ||
                         layout.context == ContextForm::ulysses ||
                         layout.context == ContextForm::usp || layout.context == ContextForm::dsp;
  if (!quantises) {
    fail(compressors.cp,
         "compress: axis cp: this layout.context sends states or fp32 statistics of rows, which no "
         "published method quantises; take ring, ulysses, usp or dsp");
  }
}

// Refuses, for an axis that sends activations, methods and keys that only gradients or other axes
// have.
void check_activations(const Values& values, const std::string& place, const std::string& axis,
                       const CompressorChoice& choice) {
  values.about(place + ".name", [&] { return activation_codec(choice); });
  refuse_unused(
      values, place,
      {{true,
        {"warmup"},
        "activations are quantised in every step; this key is for gradients (axis: dp)"},
       {true,
        {"feedback"},
        "the quantisation error of an activation is not kept for the next one; this key is for "
        "gradients (axis: dp)"},
       {axis == "pp",
        {"hop"},
        "a message between two stages has no groups; take axis: tp, cp or ep, or leave this key "
        "out"},
       {axis != "ep", {"passes"}, "this key is for experts (axis: ep)"}});
}

}  // namespace

CompressorChoice resolve_compressor(const Values& values, const std::string& place,
                                    NamedFiles& files, const OwnCompressors& own) {
  CompressorChoice choice;
  values.fill(place, choice);
  choice.own = own_named(own, choice.name);
  choice.where = values.fault_at(place);
  const CompressorKind& kind = compressor_kind(choice);
  const auto check = [&](std::string_view name, bool taken) {
    const std::string key = fmt::format("{}.{}", place, name);
    if (!taken && values.has(key)) refuse(values, key, kind);
  };
  for (const CompressorNumber& number : compressor_numbers()) {
    check(number.name, takes(kind, number));
  }
  check("feedback", takes_feedback(kind));
  check("base", !kind.usual.base.empty());
  resolve_errors(values, place, files, kind, choice);
  return choice;
}

AxisCompressors resolve_compressors(const Values& values, NamedFiles& files,
                                    const OwnCompressors& own) {
  AxisCompressors compressors;
  compressors.dp = resolve_compressor(values, "communication.compressor", files, own);
  for (int i = 0; i < values.length("compress"); ++i) {
    const std::string place = fmt::format("compress.{}", i);
    const std::string& axis = values.text(place + ".axis");
    for (int before = 0; before < i; ++before) {
      if (values.text(fmt::format("compress.{}.axis", before)) != axis) continue;
      values.fail(place + ".axis",
                  fmt::format("{} already has a compressor; remove one of them", axis));
    }
    if (axis == "dp" && values.stated("communication.compressor")) {
      values.fail(place + ".axis",
                  "communication.compressor also compresses axis dp; leave one of them out");
    }
    const CompressorChoice choice = resolve_compressor(values, place, files, own);
    if (axis != "dp") check_activations(values, place, axis, choice);
    refuse_unused(values, place,
                  {{axis == "dp", {"passes"}, "this key is for experts (axis: ep)"}});
    for (const CompressedAxis& each : kCompressedAxes) {
      if (axis == to_string(each.axis)) compressors.*each.choice = choice;
    }
  }
  return compressors;
}

void check_compressors(const Values& values, const Job& job) {
  check_inner_compressors(job);
  const CompressorChoice& choice = job.communication.compressors.dp;
  if (!compresses(choice)) return;
  const std::vector<TensorShape> gradients = gradients_of(job);
  if (choice.errors != nullptr) {
    values.about(gradients_at(values) + ".errors",
                 [&] { check_layer_errors(*choice.errors, gradients); });
  }
  check_compressor(choice, gradients);
}

}  // namespace windtunnel
