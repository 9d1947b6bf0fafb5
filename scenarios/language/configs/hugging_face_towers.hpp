// Towers of vision and sound before a decoder in a config.json: their sizes, and what an image or a
// sound adds to the operations of a sequence. A job does not simulate them; the model names them
// with their share of the operations (TransformerSpec::left_out). Field names and projectors are
// those of the model classes of github.com/huggingface/transformers (src/transformers/models/X).
#pragma once

#include <string>
#include <vector>

#include "models/workload/transformer.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

struct HuggingFaceTower {
  std::string key;         // "vision_config"
  TransformerSpec layers;  // attention without a mask over the patches of a source
  double parameters = 0;   // with embeddings and projector, if the family is known
  // An image, or 30 s of sound. 0 patches: the family is not known.
  int side = 0;  // pixels of a square image; 0: sound
  bool side_is_stated = false;
  int patches = 0;
  int tokens = 0;    // of the decoder's sequence
  double flops = 0;  // forward and backward, by the convention of model_flops()
};

// `model` is the decoder of the same file. Throws Error, with its place, for a size that is wrong.
std::vector<HuggingFaceTower> towers_of(const DocumentNode& document, const TransformerSpec& model);
// Adds them to TransformerSpec::left_out.
void name_towers(const DocumentNode& document, TransformerSpec& model);

}  // namespace windtunnel
