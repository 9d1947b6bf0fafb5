// How fast an engine writes samples, and how many it holds: the kernels of a forward pass at the
// rows of a step of decoding (models/cost/chunk, so kernels and tensor-parallel collectives are
// those of training), and what attention reads of the keys and values before. A step of b
// sequences that have K tokens together takes base_s[b] + context_s * K: weights are read once
// however many sequences there are, until products are bound by compute.
//
// Adapters stay beside the base that they were trained on, as vLLM serves them (docs.vllm.ai, LoRA
// adapters), so that engines run their products and get no more than them from the learner. DoRA's,
// which it does not serve (github.com/vllm-project/vllm issue 10849), are merged into
// the weights.
//
// Experts: those that b tokens are expected to visit are read, 1 - (1 - k / E)^b of them. Latent
// attention keeps the latent vector of a token, on every GPU, and reads it as DeepSeek-V2 (arXiv
// 2405.04434, section 2.1.2) does, its up projections absorbed. CUDA graphs leave no wait for the
// host inside of a step; between two of them it schedules, samples and takes in tokens
// (EngineSpec::host_step_s). Prompts go through in chunks of kPromptChunk tokens beside decoding
// (chunked prefill), so that a prompt of t tokens adds prompt_token_s * t + prompt_square_s * t^2.
#pragma once

#include <vector>

#include "models/base/origin.hpp"
#include "models/plan/job.hpp"
#include "models/workload/rollout.hpp"

namespace windtunnel {

inline constexpr double kPromptChunk = 8192;  // tokens: assumed, vLLM's usual budget of a step

struct EngineSpeed {
  std::vector<double> base_s;  // [sequences], from 0 to the most that run at once
  double context_s = 0;        // of a step, per token that a sequence has
  double prompt_token_s = 0;
  double prompt_square_s = 0;
  // Tokens whose keys and values find room beside the states of all sequences; of a model without
  // keys and values, of all sequences at their longest.
  double capacity = 0;

  int most_sequences() const { return static_cast<int>(base_s.size()) - 1; }
  double prompt_s(double tokens) const {
    return tokens * (prompt_token_s + tokens * prompt_square_s);
  }
  // `steps` steps of so many sequences, which have `context` tokens before the first of them.
  double decode_s(double steps, int sequences, double context) const {
    const double mean = context + sequences * (steps - 1) / 2;
    return steps * (base_s[sequences] + context_s * mean);
  }
};

// Of one GPU: what a token's keys and values take, in all layers.
double cache_bytes_per_token(const TransformerSpec& model, int tp, double element_bytes);
// Likewise of a sequence however long it is: the states of Mamba layers in fp32 (mamba_ssm_dtype of
// Nemotron-H's config.json) and the tokens that their convolutions still see.
double state_bytes_per_sequence(const TransformerSpec& model, int tp, double element_bytes);
// Scaled formats are of training: engines hold and compute in 16 bit then.
Precision engine_precision(const Job& job);
// Of the whole model, as engines hold it.
double engine_weight_bytes(const Job& job);
// Whether adapters are added to the weights before an engine gets them.
bool merges_adapters(const Job& job);
// Weights that a step of the learner changes and engines therefore get: all of the model, the parts
// that are trained, or adapters alone.
double changed_weight_bytes(const Job& job);

// `other_bytes`: of a GPU's memory, what the learner keeps there. Throws Error about the engine's
// keys: it has no room for its weights, or for one sequence of `longest` tokens.
EngineSpeed engine_speed(const Job& learner, const EngineSpec& engine, double longest,
                         double other_bytes = 0);

}  // namespace windtunnel
