// The table of compressors. A row has a compressor's recipe and says what it combines with.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/compression/recipe.hpp"

namespace windtunnel {

struct CompressorKind {
  std::string name;
  std::string help;             // one line for people
  std::string source;           // paper
  CompressorChoice usual = {};  // default parameters; 0: not used by the method
  // Its collectives sum compressed data, so with sharded gradients its buffer is reduce-scattered.
  bool summable = false;
  // All its collectives are one all-reduce of one buffer, so buckets can be fused by compressed
  // size.
  bool fusible = false;
  // It reads and writes whole matrices, so tensors cannot be partitioned.
  bool whole_tensors = false;
  // Bits of an element if the method quantises elements independently and CompressorChoice::bits is
  // not set. Such a method works for activations too. 0: another method, which does not.
  double element_bits = 0;
  // It freezes Adam's second moments and sends the first.
  bool of_moments = false;
  // It sends parts of a momentum that each rank keeps whole, even if gradients are sharded.
  bool whole_momentum = false;
  std::function<Recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                       const ReducingGroup& group, double element_bytes)>
      recipe = {};
};

// The compressor of steps without a backward pass, which exchange one number and no gradients.
inline constexpr std::string_view kOneByte = "one-byte";

std::span<const CompressorKind> compressor_kinds();  // "none" first
// Throws Error with the nearest name.
const CompressorKind& compressor_kind(std::string_view name);
// Prefers a compressor of this name that the calling program supplies.
const CompressorKind& compressor_kind(const CompressorChoice& choice);

// A parameter of a choice: its name and allowed range (always above 0).
struct CompressorNumber {
  std::string_view name;
  double CompressorChoice::*member;
  double low;
  double high;
  std::string_view help;
};
std::span<const CompressorNumber> compressor_numbers();
// Throws Error, with choice.where, if a parameter is set and out of range.
void check_numbers(const CompressorChoice& choice);
// Whether the method uses the parameter; `warmup` applies to every method but none.
bool takes(const CompressorKind& kind, const CompressorNumber& number);
bool takes_feedback(const CompressorKind& kind);

// Whether gradients are changed at all.
bool compresses(const CompressorChoice& choice);

// `choice` with the kind's defaults for parameters that are not set.
CompressorChoice with_usual(const CompressorChoice& choice);

}  // namespace windtunnel
