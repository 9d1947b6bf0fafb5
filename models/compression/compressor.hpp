// Which compressor a job uses for what an axis sends, and with which numbers. What it does to
// gradients is a recipe (models/compression/recipe.hpp), to activations a codec
// (models/compression/activation_codec.hpp); which there are, by name:
// models/compression/compressors.hpp.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {

// What becomes of what was not sent. ef: added to the next gradient (Seide et al. 2014; Karimireddy
// et al. 2019, arXiv 1901.09847). ef21: differences to a state on all sides (Richtarik et al. 2021,
// arXiv 2106.05203). econtrol: both (Gao et al. 2023, arXiv 2311.05645).
enum class ErrorFeedback { usual, none, ef, ef21, econtrol };

// Among whom compressed gradients travel. across: only between nodes, on a fabric of sites between
// sites, or between the copies of sharded gradients; before that the members of one place
// reduce-scatter them as they are, so that each compresses a part, and gather the result.
enum class CompressedHop {
  automatic,  // across on a fabric of sites, where that can be, else all
  all,
  across,
};

// What of an axis is packed besides gradients. dispatch: only what tokens bring to their experts;
// the way back stays as it is (DeepSeek-V3, arXiv 2412.19437, section 3.3.3).
enum class CompressedPasses { all, dispatch };

// Errors of one layer's gradient, a matrix as a rank holds it: mean squared error of its elements
// by rank, density or bits, over the mean square of the elements of all gradients.
struct LayerErrors {
  std::string layer;
  double rows = 0;
  double columns = 0;
  std::vector<std::pair<double, double>> by_number;  // ascending numbers
};

struct CompressorKind;  // models/compression/compressors.hpp
using OwnCompressors = std::vector<std::shared_ptr<const CompressorKind>>;  // of the program

// Numbers that a method has no use for are ignored by its recipe and refused in a scenario.
// 0: the method's usual one (CompressorKind).
struct CompressorChoice {
  std::string name = "none";
  double rank = 0;     // of low-rank factors
  double density = 0;  // share of the elements that is kept
  double bits = 0;     // of a quantised element
  double block = 0;    // elements that share a scale, or side of a chunk
  double warmup = 0;   // share of all steps before it starts, with dense gradients
  double every = 0;    // steps between synchronisations, or between refreshes of what it reuses
  // lgreco: allowed error, relative to that of its base with one choice for all layers.
  double error = 0;
  ErrorFeedback feedback = ErrorFeedback::usual;
  CompressedHop hop = CompressedHop::automatic;
  CompressedPasses passes = CompressedPasses::all;
  Location where = {};    // the scenario says it
  std::string base = {};  // lgreco: the method whose numbers it chooses
  // lgreco: measured errors by layer, in place of assumed ones.
  std::shared_ptr<const std::vector<LayerErrors>> errors = {};
  // What is of this name where the calling program brings it, and the project has none.
  std::shared_ptr<const CompressorKind> own = nullptr;
};

}  // namespace windtunnel
