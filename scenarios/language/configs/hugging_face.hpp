// A transformer from a config.json of Hugging Face's transformers. A multimodal model is
// represented by its language model ("text_config") and a tower in front of it. Field names and the
// defaults of omitted fields are those of the library's XConfig classes
// (github.com/huggingface/transformers, src/transformers/models/X/configuration_X.py).
//
// TransformerSpec cannot express, and this reader ignores: norms of queries and keys, norms after
// the halves of a layer (Gemma 2, 3), biases of queries, keys and values alone (Qwen 2).
// TransformerSpec::left_out names what else the file has that is not counted: modules for
// multi-token prediction, unknown keys, a tower whose output is not part of the sequence. The
// number of positions does not tell the sequence length of training, so `sequence` is 0 unless
// positions are learned.
#pragma once

#include <string>
#include <vector>

#include "models/workload/transformer.hpp"

namespace windtunnel {

// `path` names the file in errors and becomes the model's name. Throws Error with location: text
// that is not JSON, an unknown model_type (with the known ones), a field that is missing, wrong, or
// not modelled.
TransformerSpec model_of_hugging_face(const std::string& text, const std::string& path);

// The values of model_type that model_of_hugging_face() reads.
std::vector<std::string> hugging_face_types();

}  // namespace windtunnel
