// What a scenario that writes down its model itself leaves open of it: that of the family that the
// stated keys point to. Its reader is told what stands there instead.
#pragma once

#include <string>
#include <vector>

#include "models/plan/job.hpp"
#include "models/results/note.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

// What a model without a base takes: GPT-2's forms, or Llama's where a stated key is of no GPT.
struct ModelFamily {
  TransformerSpec forms;  // activation, normalisation, position, biases, embeddings; MLP and heads
  std::string name;       // "GPT-2"
  std::string sign;       // the key that tells it, "kv_heads: 8 with 64 heads"; empty: none
};

// The keys `layers` (or a pattern), `hidden`, `heads` must be stated. The width of a gated MLP is
// two thirds of four times the hidden width, in whole multiples of 64, as Megatron-LM has it
// (github.com/NVIDIA/Megatron-LM, core_v0.14.0, megatron/training/arguments.py, --swiglu).
ModelFamily model_family(const Values& values);

// None of a model with a base, or if all is stated.
std::vector<Note> model_defaults(const Values& values, const Job& job);

}  // namespace windtunnel
