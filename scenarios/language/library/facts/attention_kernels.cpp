#include "scenarios/language/library/facts/attention_kernels.hpp"

#include <algorithm>
#include <utility>

#include "models/base/error.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/choices.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {
namespace {

const DocumentNode& attention_document() {
  static const DocumentNode document = library_document("attention.yaml");
  return document;
}

bool one_of_two(const DocumentNode& map, const std::string& key, std::string_view yes,
                std::string_view no) {
  const std::string& text = require_text(map, key);
  if (text == yes || text == no) return text == yes;
  throw Error(require(map, key).where,
              fmt::format("{}: '{}' is neither {} nor {}", key, text, yes, no));
}

std::vector<double> positive_numbers(const DocumentNode& map, const std::string& key) {
  const DocumentNode& list = require(map, key);
  std::vector<double> numbers;
  for (const DocumentNode& item : list.items) {
    numbers.push_back(quantity(item, Dimension::number, key));
    if (!(numbers.back() > 0)) throw Error(item.where, fmt::format("{}: must be positive", key));
  }
  if (numbers.empty()) throw Error(list.where, fmt::format("{}: no numbers", key));
  return numbers;
}

AttentionCurve read_curve(const DocumentNode& map) {
  check_keys(map, {"pass", "mask", "head", "tokens", "tflops", "origin", "source"});
  AttentionCurve curve;
  curve.backward = one_of_two(map, "pass", "backward", "forward");
  curve.causal = one_of_two(map, "mask", "causal", "none");
  curve.width = whole(require(map, "head"), "head");
  curve.tokens = positive_numbers(map, "tokens");
  curve.flop_s = positive_numbers(map, "tflops");
  for (double& flop_s : curve.flop_s) flop_s *= 1e12;
  if (curve.tokens.size() != curve.flop_s.size() || !std::ranges::is_sorted(curve.tokens)) {
    throw Error(map.where, "tokens must be in ascending order, with one number of tflops for each");
  }
  curve.origin = choice_of<Origin>(require(map, "origin"), "origin");
  curve.source = require_text(map, "source");
  return curve;
}

// Reads a share of the speed that was measured on another GPU, and scales it to this GPU.
Parameter at_pace(const std::string& key, double pace) {
  Parameter kept = read_number(require(attention_document(), key), Dimension::number, key);
  for (double* each : {&kept.value, &kept.low, &kept.high}) *each *= pace;
  if (pace != 1) kept.origin = Origin::assumed;
  return kept;
}

const DocumentNode& kernel_node(std::string_view kernel) {
  return require(require(attention_document(), "kernels"), std::string(kernel));
}

const DocumentNode* block_of(std::string_view kernel, std::string_view gpu) {
  for (const DocumentNode& block : require(kernel_node(kernel), "on").items) {
    if (require(block, "gpus").value_of(std::string(gpu)) != nullptr) return &block;
  }
  return nullptr;
}

}  // namespace

const std::vector<AttentionKernelEntry>& attention_kernels() {
  static const std::vector<AttentionKernelEntry> kernels = [] {
    std::vector<AttentionKernelEntry> found;
    for (const DocumentEntry& entry : require(attention_document(), "kernels").entries) {
      check_keys(entry.value, {"help", "on"});
      found.push_back({entry.key, require_text(entry.value, "help")});
    }
    return found;
  }();
  return kernels;
}

std::shared_ptr<const AttentionSpeeds> attention_speeds(std::string_view kernel,
                                                        std::string_view gpu) {
  const DocumentNode* block = block_of(kernel, gpu);
  if (block == nullptr) return nullptr;
  check_keys(*block, {"gpus", "peak", "curves"});
  auto speeds = std::make_shared<AttentionSpeeds>();
  speeds->kernel = kernel;
  speeds->measured_peak_flop_s = quantity(require(*block, "peak"), Dimension::flops_per_s, "peak");
  const double pace =
      quantity(require(require(*block, "gpus"), std::string(gpu)), Dimension::number, "gpus");
  speeds->in_step = at_pace("in_step", pace);
  speeds->alone = at_pace("alone", pace);
  for (const DocumentNode& curve : require(*block, "curves").items) {
    speeds->curves.push_back(read_curve(curve));
  }
  return speeds;
}

std::vector<std::string> attention_kernels_on(std::string_view gpu) {
  std::vector<std::string> names;
  for (const AttentionKernelEntry& kernel : attention_kernels()) {
    if (block_of(kernel.name, gpu) != nullptr) names.push_back(kernel.name);
  }
  return names;
}

}  // namespace windtunnel
