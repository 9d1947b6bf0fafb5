// Which compressors there are: one row each, with its recipe and what it can be combined with.
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
  CompressorChoice usual = {};  // its numbers where a scenario says none; 0: has no use for it
  // Its collectives sum what was compressed: where gradients are sharded, a buffer of it is
  // reduce-scattered.
  bool summable = false;
  // All its collectives are one all-reduce of one buffer: buckets can be fused by compressed bytes.
  bool fusible = false;
  // Reads and writes whole matrices: partitions of tensors do not do.
  bool whole_tensors = false;
  // Quantises every element for itself, to so many bits where CompressorChoice::bits says nothing:
  // so it goes with activations, too. 0: it does not.
  double element_bits = 0;
  // Freezes Adam's second moments and sends the first.
  bool of_moments = false;
  // What it sends is taken from a momentum of all gradients that each rank keeps, sharded or not.
  bool whole_momentum = false;
  std::function<Recipe(const CompressorChoice& choice, std::span<const TensorShape> tensors,
                       const ReducingGroup& group, double element_bytes)>
      recipe = {};
};

// The compressor of steps without a backward pass, which exchange a number and no gradients.
inline constexpr std::string_view kOneByte = "one-byte";

std::span<const CompressorKind> compressor_kinds();  // "none" first
// Throws Error with the nearest name.
const CompressorKind& compressor_kind(std::string_view name);
// The program's own where it brings one of this name.
const CompressorKind& compressor_kind(const CompressorChoice& choice);

// A number of a choice by its name, and where it must lie (above 0).
struct CompressorNumber {
  std::string_view name;
  double CompressorChoice::*member;
  double low;
  double high;
  std::string_view help;
};
std::span<const CompressorNumber> compressor_numbers();
// Throws Error, with choice.where, for one that is stated and out of range.
void check_numbers(const CompressorChoice& choice);
// Whether the method has a use for the number; `warmup` goes with every method but none.
bool takes(const CompressorKind& kind, const CompressorNumber& number);
bool takes_feedback(const CompressorKind& kind);

// Anything but the gradients as they are.
bool compresses(const CompressorChoice& choice);

// `choice` with the kind's usual numbers where it has none.
CompressorChoice with_usual(const CompressorChoice& choice);

}  // namespace windtunnel
