// How fast an inference engine generates samples, and how many fit: the kernels of a forward pass
// with one row per sequence of a decoding step (models/cost/chunk, so kernels and tensor-parallel
// collectives are those of training), and the attention's reads of earlier keys and values. A step
// of b sequences with K tokens together takes base_s[b] + context_s * K: weights are read once for
// any number of sequences, until products are compute-bound.
//
// Adapters remain separate from their base, as in vLLM (docs.vllm.ai, LoRA adapters): engines run
// their products, and the learner sends only adapters. DoRA's, which vLLM does not support
// (github.com/vllm-project/vllm issue 10849), are merged into the weights.
//
// A step of b tokens reads the weights of the experts that these are expected to use, a share 1 -
// (1 - k / E)^b of all E if each token uses k. Latent attention keeps one latent vector per token
// on every GPU and reads it as in DeepSeek-V2 (arXiv 2405.04434, section 2.1.2), with up
// projections absorbed. CUDA graphs avoid waits for the host inside a step; between steps the host
// schedules, samples and receives tokens (EngineSpec::host_step_s). Prompts are processed in chunks
// of kPromptChunk tokens together with decoding (chunked prefill), so that a prompt of t tokens
// adds prompt_token_s * t + prompt_square_s * t^2.
#pragma once

#include <vector>

#include "models/base/origin.hpp"
#include "models/plan/job.hpp"
#include "models/workload/rollout.hpp"

namespace windtunnel {

inline constexpr double kPromptChunk = 8192;  // tokens: assumed, vLLM's usual token budget per step

struct EngineSpeed {
  std::vector<double> base_s;  // [sequences], from 0 to the largest number that runs concurrently
  double context_s = 0;        // additional time per step for each token of context
  double prompt_token_s = 0;
  double prompt_square_s = 0;
  // Tokens whose keys and values fit in memory together with the states of all sequences; for a
  // model without keys and values, tokens of all sequences at full length.
  double capacity = 0;

  int most_sequences() const { return static_cast<int>(base_s.size()) - 1; }
  double prompt_s(double tokens) const {
    return tokens * (prompt_token_s + tokens * prompt_square_s);
  }
  // Returns the time in which `sequences` sequences decode `steps` tokens each; they have `context`
  // tokens in all before the first step.
  double decode_s(double steps, int sequences, double context) const {
    const double mean = context + sequences * (steps - 1) / 2;
    return steps * (base_s[sequences] + context_s * mean);
  }
};

// Returns the bytes of a token's keys and values on one GPU, summed over all layers.
double cache_bytes_per_token(const TransformerSpec& model, int tp, double element_bytes);
// Returns the bytes of a sequence that do not depend on its length: the fp32 states of Mamba layers
// (mamba_ssm_dtype of Nemotron-H's config.json) and the tokens that their convolutions still need.
double state_bytes_per_sequence(const TransformerSpec& model, int tp, double element_bytes);
// Returns the precision of engines that state none: the learner's, or bf16 if that is scaled.
Precision engine_precision(const Job& job);
// Returns the precision that the engine states, or the default above.
Precision engine_precision(const Job& learner, const EngineSpec& engine);
// Returns the bytes of the whole model in the precision of engines that state none.
double engine_weight_bytes(const Job& job);
// Whether adapters are added to the weights before an engine gets them.
bool merges_adapters(const Job& job);
// Bytes of the weights that a learner's step changes and that are sent to engines: the whole model,
// the trained parts, or only adapters. They are in the precision of engines that state none; an
// engine that states one converts them.
double changed_weight_bytes(const Job& job);

// `other_bytes`: memory of a GPU that the learner keeps occupied. Throws Error about the engine's
// keys if its weights, or one sequence of `longest` tokens, do not fit.
EngineSpeed engine_speed(const Job& learner, const EngineSpec& engine, double longest,
                         double other_bytes = 0);

}  // namespace windtunnel
