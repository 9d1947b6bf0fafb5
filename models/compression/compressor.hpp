// The compressor that a job uses for an axis, with its parameters. A recipe
// (models/compression/recipe.hpp) says what it does to gradients, a codec
// (models/compression/activation_codec.hpp) what it does to activations.
// models/compression/compressors.hpp lists the compressors by name.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {

// What happens to the unsent part. ef adds it to the next gradient (Seide et al. 2014; Karimireddy
// et al. 2019, arXiv 1901.09847). ef21 sends differences to a state that all sides keep (Richtarik
// et al. 2021, arXiv 2106.05203). econtrol does both (Gao et al. 2023, arXiv 2311.05645).
enum class ErrorFeedback { usual, none, ef, ef21, econtrol };

// On which hops gradients are compressed. across: only between nodes, between sites on a fabric of
// sites, or between the copies of sharded gradients. The members of one node (site, copy) first
// reduce-scatter uncompressed gradients, so that each compresses a part, and at last gather.
enum class CompressedHop {
  automatic,  // across on a fabric of sites where possible, else all
  all,
  across,
};

// Which messages of an axis are packed, apart from gradients. dispatch: only tokens on their way to
// the experts; the way back is uncompressed (DeepSeek-V3, arXiv 2412.19437, section 3.3.3).
enum class CompressedPasses { all, dispatch };

// Compression errors of one layer's gradient, the matrix that a rank holds. An error is the mean
// squared error of its elements, divided by the mean square of the elements of all gradients.
struct LayerErrors {
  std::string layer;
  double rows = 0;
  double columns = 0;
  std::vector<std::pair<double, double>> by_number;  // [rank, density or bits, ascending] error
};

struct CompressorKind;  // models/compression/compressors.hpp
// The compressors that the calling program supplies.
using OwnCompressors = std::vector<std::shared_ptr<const CompressorKind>>;

// Parameters that a method does not use are ignored by its recipe and rejected in a scenario. 0:
// the method's default (CompressorKind).
struct CompressorChoice {
  std::string name = "none";
  double rank = 0;     // of low-rank factors
  double density = 0;  // share of the elements that is sent
  double bits = 0;     // of a quantised element
  double block = 0;    // elements that share a scale, or side of a chunk
  double warmup = 0;   // share of all steps before it starts, with dense gradients
  double every = 0;    // steps between synchronisations, or between refreshes of reused data
  // lgreco: allowed error, relative to the error of `base` with its default for all layers.
  double error = 0;
  ErrorFeedback feedback = ErrorFeedback::usual;
  CompressedHop hop = CompressedHop::automatic;
  CompressedPasses passes = CompressedPasses::all;
  Location where = {};    // the place in the scenario
  std::string base = {};  // lgreco: the method whose parameters it chooses
  // lgreco: measured errors by layer, instead of assumed ones.
  std::shared_ptr<const std::vector<LayerErrors>> errors = {};
  // The compressor of this name if the calling program supplies it; null: one of the project's.
  std::shared_ptr<const CompressorKind> own = nullptr;
};

}  // namespace windtunnel
