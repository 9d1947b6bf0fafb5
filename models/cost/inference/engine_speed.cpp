#include "models/cost/inference/engine_speed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/op/op.hpp"
#include "models/cost/op/op_cost.hpp"
#include "models/workload/stage_parameters.hpp"
#include "models/workload/training.hpp"

namespace windtunnel {
namespace {

// Without CUDA graphs the host starts modules of PyTorch, which take this part of the CPU time of
// Transformer Engine's (hfta of scenarios/library/software.yaml).
constexpr double kEagerHostShare = 0.2;

bool serves_adapters(const Job& job) {
  return job.training != nullptr && job.training->adapter.kind != AdapterKind::none &&
         !merges_adapters(job);
}

// Describes an engine as a job on its node or nodes; the engine computes this job's forward pass.
Job engine_job(const Job& learner, const EngineSpec& engine) {
  Job job;
  job.model = learner.model;
  job.model.dropout = false;
  job.precision = engine_precision(learner, engine);
  job.calibration = learner.calibration;
  job.communication.collectives = learner.communication.collectives;
  job.software.cuda_graphs = engine.cuda_graphs;
  job.software.host_share = kEagerHostShare;
  job.software.fused_experts = true;  // vLLM, vllm/model_executor/layers/fused_moe
  job.software.portable_attention = learner.software.portable_attention;
  job.cluster = learner.cluster;
  job.cluster.places.clear();
  job.cluster.ranks = {};
  const int gpus = job.cluster.node.gpus;
  job.cluster.nodes = std::max(1, engine.tp / gpus);
  job.layout.tp = engine.tp;
  job.layout.dp = std::max(1, gpus / engine.tp);
  if (job.model.moe.experts > 0) job.layout.ep = engine.tp;
  if (serves_adapters(learner)) {
    // Only the adapters matter here; how the learner trains them makes no difference to an engine.
    Training served{.frozen_layers = learner.training->frozen_layers,
                    .adapter = learner.training->adapter};
    served.adapter.dropout = false;
    job.training = std::make_shared<const Training>(std::move(served));
  } else if (is_scaled(job.precision)) {
    // Weights that are not trained are quantised once. Embedding and head stay in 16 bit.
    job.training = std::make_shared<const Training>(
        Training{.frozen_layers = std::vector<bool>(job.model.layers, true)});
  }
  return job;
}

// Adapters count among the weights that a GPU of an engine holds.
double weight_bytes(const Job& job) {
  const double element = bytes_of(job.precision);
  if (job.training == nullptr) return element * stage_parameters(job.model, job.layout).front();
  const TrainedParameters of =
      trained_parameters(job.model, job.layout, *job.training, element).front();
  const double frozen = is_scaled(job.precision) ? gemm_bytes_of(job.precision) : element;
  return element * of.trained + frozen * of.frozen;
}

double forward_s(const Job& job) {
  const std::vector<ChunkCost> chunks = chunk_costs(job);
  double seconds = 0;
  for (const CostPart& part : chunks.front().forward) seconds += part.seconds;
  return seconds;
}

// Number of experts that these tokens use, rounded so that every GPU has equally many.
int visited_experts(const MixtureOfExperts& moe, double tokens, int gpus) {
  const double share = static_cast<double>(moe.per_token) / moe.experts;
  const double visited = moe.experts * (1 - std::pow(1 - share, tokens));
  const int least = std::max(moe.per_token, static_cast<int>(std::ceil(visited)));
  return std::min(moe.experts, (least + gpus - 1) / gpus * gpus);
}

double step_s(Job job, int sequences) {
  job.batch.micro = sequences;
  job.batch.sequence = 1;
  job.batch.global = sequences * job.layout.dp;
  MixtureOfExperts& moe = job.model.moe;
  if (moe.experts > 0) moe.experts = visited_experts(moe, sequences, job.layout.tp);
  return forward_s(job);
}

// A forward pass of prompts alone. The loss head, which only the last token of each prompt needs,
// belongs to a decoding step.
double prompts_s(Job job, int prompts, int tokens) {
  job.model.vocabulary = job.layout.tp;
  job.batch.micro = prompts;
  job.batch.sequence = tokens;
  job.batch.global = prompts * job.layout.dp;
  return forward_s(job);
}

// Time per token of context, over all layers of a GPU: memory-bound reads, unless so many heads
// share a latent that the products take longer.
double context_s(const Job& job) {
  const TransformerSpec& model = job.model;
  const double heads = std::max(1.0, static_cast<double>(model.heads) / job.layout.tp);
  const bool latent = model.latent.kv_rank > 0;
  const double widths = latent ? 2.0 * model.latent.kv_rank + model.latent.rotary_width
                               : model.query_dim() + model.value_dim();
  constexpr double kTokens = 1e9;  // so many that constant terms vanish
  Op op;
  op.name = "attention";
  op.kind = OpKind::attention_forward;
  op.m = 1;
  op.n = kTokens;
  op.k = model.query_dim();
  op.batch = heads;
  op.flops = 2.0 * model.layers_with(has_attention) * heads * widths * kTokens;
  op.bytes = cache_bytes_per_token(model, job.layout.tp, bytes_of(job.precision)) * kTokens;
  op.portable = job.software.portable_attention;
  return op_cost(op, job).seconds / kTokens;
}

}  // namespace

double cache_bytes_per_token(const TransformerSpec& model, int tp, double element_bytes) {
  const double layers = model.layers_with(has_attention);
  if (model.latent.kv_rank > 0) {
    return element_bytes * layers * (model.latent.kv_rank + model.latent.rotary_width);
  }
  // If there are more GPUs than heads, each head is on several GPUs.
  const int heads = (model.kv_heads + tp - 1) / tp;
  return element_bytes * layers * 2.0 * heads * model.head_dim();
}

double state_bytes_per_sequence(const TransformerSpec& model, int tp, double element_bytes) {
  constexpr double kFp32 = 4;
  const MambaMixer& mamba = model.mamba;
  const double states = kFp32 * mamba.inner() * mamba.state;
  const double convolved = mamba.form().convolution ? mamba.convolved() : 0;
  const double convolutions = element_bytes * (kMambaConvolution - 1) * convolved;
  return model.layers_with(has_mamba) * (states + convolutions) / tp;
}

Precision engine_precision(const Job& job) {
  return is_scaled(job.precision) ? Precision::bf16 : job.precision;
}

Precision engine_precision(const Job& learner, const EngineSpec& engine) {
  return engine.precision.value_or(engine_precision(learner));
}

double engine_weight_bytes(const Job& job) {
  return bytes_of(engine_precision(job)) * job.model.parameters();
}

bool merges_adapters(const Job& job) {
  return job.training != nullptr && job.training->adapter.kind == AdapterKind::dora;
}

double changed_weight_bytes(const Job& job) {
  if (merges_adapters(job)) return engine_weight_bytes(job);
  const ParameterCounts counts = parameter_counts(job.model, job.training.get());
  return bytes_of(engine_precision(job)) * counts.trained;
}

EngineSpeed engine_speed(const Job& learner, const EngineSpec& engine, double longest,
                         double other_bytes) {
  const Job job = engine_job(learner, engine);
  const double element = bytes_of(job.precision);
  const double weights = weight_bytes(job);
  const double usable = usable_bytes(job.cluster.node.gpu);
  const double framework = job.calibration.framework_bytes.value;
  const double states =
      engine.most_sequences * state_bytes_per_sequence(job.model, engine.tp, element);
  const double room = engine.memory_share * usable - weights - framework - other_bytes - states;
  const double of_token = cache_bytes_per_token(job.model, engine.tp, element);
  const double all_sequences = engine.most_sequences * longest;
  EngineSpeed speed;
  if (room > 0) speed.capacity = of_token > 0 ? std::floor(room / of_token) : all_sequences;
  if (speed.capacity < longest) {
    const std::string others =
        (states > 0 ? fmt::format(", states of {} sequences {}", engine.most_sequences,
                                  format_memory(states))
                    : "") +
        (other_bytes > 0 ? fmt::format(", the learner's state {}", format_memory(other_bytes))
                         : "");
    const double needed = (engine.memory_share * usable - room + of_token * longest) / usable;
    throw Error::about(
        {"rollout.engine.tp", "rollout.engine", "rollout"},
        "an engine of {} GPUs has memory for keys and values of {:.0f} tokens, but a sequence may "
        "have {:.0f}: of the {} per GPU that it may use, weights take {}{} and the framework {}; "
        "{}",
        engine.tp, speed.capacity, longest, format_memory(engine.memory_share * usable),
        format_memory(weights), others, format_memory(framework),
        needed < 1
            ? fmt::format("set rollout.engine.memory: {:.3f} or more",
                          std::ceil(needed * 1000 + 1e-6) / 1000)
            : fmt::format("even all of a GPU's memory ({}) is not enough", format_memory(usable)));
  }
  speed.base_s.push_back(0);
  for (int b = 1; b <= engine.most_sequences; ++b) {
    // More sequences never count as faster, even if another tile or algorithm of a collective is.
    speed.base_s.push_back(std::max(speed.base_s.back(), engine.host_step_s + step_s(job, b)));
  }
  speed.context_s = context_s(job);
  // Two ways to fill a chunk, which differ only in attention, give the linear and the quadratic
  // term.
  const int chunk = static_cast<int>(kPromptChunk);
  const double whole_s = prompts_s(job, 1, chunk);
  const double parts_s = prompts_s(job, 8, chunk / 8);
  const double squares = kPromptChunk * kPromptChunk;
  speed.prompt_square_s = std::max(0.0, (whole_s - parts_s) / (squares - squares / 8));
  speed.prompt_token_s = (whole_s - speed.prompt_square_s * squares) / kPromptChunk;
  return speed;
}

}  // namespace windtunnel
