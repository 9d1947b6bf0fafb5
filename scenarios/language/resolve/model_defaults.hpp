// Defaults for a model that a scenario describes itself: those of the family that the stated keys
// point to. Notes tell the user what was assumed.
#pragma once

#include <string>
#include <vector>

#include "models/plan/job.hpp"
#include "models/results/note.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

// Defaults of a model without a base: GPT-2's forms, or Llama's if a stated key does not exist in
// GPT-2.
struct ModelFamily {
  TransformerSpec forms;  // activation, normalisation, position, biases, embeddings; MLP and heads
  std::string name;       // "GPT-2"
  std::string sign;       // the key that points to the family, "kv_heads: 8 with 64 heads"; empty:
                          // none
};

// The keys `layers` (or a pattern), `hidden`, `heads` must be stated. The width of a gated MLP is
// two thirds of four times the hidden width, rounded to a multiple of 64, as in Megatron-LM
// (github.com/NVIDIA/Megatron-LM, core_v0.14.0, megatron/training/arguments.py, --swiglu).
ModelFamily model_family(const Values& values);

// No notes for a model with a base, or if everything is stated.
std::vector<Note> model_defaults(const Values& values, const Job& job);

}  // namespace windtunnel
