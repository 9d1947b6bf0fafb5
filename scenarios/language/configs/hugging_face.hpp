// A transformer from a config.json of Hugging Face's transformers. A multimodal one counts by its
// language model ("text_config"). The names are those of its classes XConfig, and so are the
// defaults of what a file may leave out (github.com/huggingface/transformers,
// src/transformers/models/X/configuration_X.py).
//
// Not in a TransformerSpec, and left out: norms of queries and keys, norms behind the halves of a
// layer (Gemma 2, 3), biases of queries, keys and values alone (Qwen 2). TransformerSpec::left_out
// names what the file has beside that and is not counted: towers before the decoder, modules for
// multi-token prediction, keys that no reader knows. A context of so many positions says nothing
// about the length of training: `sequence` is 0, but for learned positions.
#pragma once

#include <string>
#include <vector>

#include "models/workload/transformer.hpp"

namespace windtunnel {

// `path` is what errors and the model are called. Throws Error with location: no JSON, an unknown
// model_type (with the known ones), a field that is missing, wrong, or not modelled.
TransformerSpec model_of_hugging_face(const std::string& text, const std::string& path);

// The values of model_type that it reads.
std::vector<std::string> hugging_face_types();

}  // namespace windtunnel
