// Towers of vision and sound before a decoder in a config.json: their sizes, and what an image or a
// sound adds to the operations of a sequence. A job simulates one tower whose output is part of the
// decoder's sequence (TransformerSpec::tower); the model lists others with their share of the
// operations (TransformerSpec::left_out). Field names and projectors are those of the model classes
// of github.com/huggingface/transformers (src/transformers/models/X).
#pragma once

#include <string>
#include <vector>

#include "models/workload/tower.hpp"
#include "models/workload/transformer.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

struct HuggingFaceTower {
  std::string key;  // "vision_config"
  Tower tower;      // 0 patches: the family is not known
  // Whether the tower's output is part of the decoder's sequence. If not, layers of the decoder
  // attend to it separately.
  bool in_sequence = true;
  int side = 0;  // pixels of a square image; 0: sound
  bool side_is_stated = false;

  double flops() const;  // per input, forward and backward, by the convention of model_flops()
};

// `model` is the decoder of the same file. Throws Error, with its place, for a size that is wrong.
std::vector<HuggingFaceTower> towers_of(const DocumentNode& document, const TransformerSpec& model);
// Sets TransformerSpec::tower, and adds to TransformerSpec::left_out.
void read_towers(const DocumentNode& document, TransformerSpec& model);

}  // namespace windtunnel
