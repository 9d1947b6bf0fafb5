#include "policies/lengths/length_costs.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "models/cost/op/block_cost.hpp"
#include "models/cost/op/op_parts.hpp"
#include "models/cost/parallel/context_parallel.hpp"
#include "models/cost/parallel/tensor_ops.hpp"
#include "models/network/groups/parallel_groups.hpp"

namespace windtunnel {
namespace {

constexpr std::array kPassParts = {&ChunkCost::forward, &ChunkCost::backward_input,
                                   &ChunkCost::backward_weight, &ChunkCost::recompute};

bool is_attention(const Op& op) {
  return op.kind == OpKind::attention_forward || op.kind == OpKind::attention_backward;
}

// What attention takes in one direction, over all layers.
struct PassAttention {
  double seconds = 0;
  Origin origin = Origin::assumed;
};

// Returns the time of the attention kernels only, because this is computed for every sequence.
PassAttention attention_of(const Job& job, Pass pass) {
  const BlockSetting setting(job, {});
  std::vector<Op> ops;
  append_attention_core(job, shard_of(job), pass, ops);
  PassAttention result;
  for (const Op& op : ops) {
    if (!is_attention(op)) continue;
    const OpCost cost = setting.cost(op);
    result.seconds += job.model.layers * cost.seconds;
    result.origin = cost.origin;
  }
  return result;
}

AttentionSeconds attention_of(const Job& job) {
  return {attention_of(job, Pass::forward).seconds,
          attention_of(job, Pass::backward_input).seconds};
}

// Returns the line through the values at x / 2 and at x.
Line line_through(double x, double at_half, double at_whole) {
  // Tiles of a GEMM can make the fixed part negative. A host that falls behind in small packs can
  // make it larger than the value at x.
  const double fixed = std::max(0.0, std::min(2 * at_half - at_whole, at_whole));
  return {fixed, (at_whole - fixed) / x};
}

double seconds_of(const std::vector<CostPart>& parts, Category category, Origin origin) {
  double seconds = 0;
  for (const CostPart& part : parts) {
    if (part.category == category && part.origin == origin) seconds += part.seconds;
  }
  return seconds;
}

// Returns the time of a kind of cost without attention of `attention_s`, which rests on `origin`.
double without_attention(const std::vector<CostPart>& parts, const CostPart& kind, Origin origin,
                         double attention_s) {
  const double all_s = seconds_of(parts, kind.category, kind.origin);
  const bool compute = kind.category == Category::forward || kind.category == Category::backward ||
                       kind.category == Category::recompute;
  return compute && kind.origin == origin ? all_s - attention_s : all_s;
}

// Returns the kinds of cost in either list, except communication of context parallelism.
std::vector<CostPart> kinds_of(std::vector<CostPart> kinds, const std::vector<CostPart>& others) {
  for (const CostPart& part : others) {
    if (seconds_of(kinds, part.category, part.origin) == 0) kinds.push_back(part);
  }
  std::erase_if(kinds, [](const CostPart& kind) { return kind.category == Category::cp; });
  return kinds;
}

}  // namespace

double DegreeCost::pack_s(double tokens, const AttentionSeconds& attention) const {
  const double all_s = other.at(tokens) + attention_runs * attention.forward_s +
                       attention.backward_s +
                       context_runs * forward.seconds(tokens, attention.forward_s) +
                       backward.seconds(tokens, attention.backward_s);
  return all_s / stages;
}

Job job_of_degree(const Job& job, int ranks, double length) {
  const int gpus = job.layout.cp * job.layout.dp;
  const int steps = std::max(1, job.batch.global / (job.batch.micro * job.layout.dp));
  Job of_degree = job;
  of_degree.layout.cp = ranks;
  of_degree.layout.dp = gpus / ranks;
  of_degree.batch.micro = 1;
  of_degree.batch.global = of_degree.layout.dp * steps;
  of_degree.batch.sequence = std::max(1, static_cast<int>(std::lround(length)));
  return of_degree;
}

LengthCosts::LengthCosts(const Job& job, const std::vector<int>& degrees, double tokens_per_gpu,
                         double measured_per_gpu)
    : job_(job), gpus_(job.layout.cp * job.layout.dp) {
  const double measured = measured_per_gpu > 0 ? measured_per_gpu : tokens_per_gpu;
  for (const int ranks : degrees) {
    DegreeCost& cost = degrees_.emplace_back();
    cost.ranks = ranks;
    cost.stages = job.layout.pp;
    cost.capacity = ranks * tokens_per_gpu;
    const Job whole = job_of_degree(job, ranks, ranks * measured);
    const Job half = job_of_degree(job, ranks, ranks * measured / 2);
    measure(half, whole, cost, parts_.emplace_back());
    measure_context(half, whole, cost, parts_.back());
  }
}

void LengthCosts::measure(const Job& half, const Job& whole, DegreeCost& cost, Parts& parts) const {
  const std::vector<ChunkCost> half_chunks = chunk_costs(half);
  const std::vector<ChunkCost> whole_chunks = chunk_costs(whole);
  const std::vector<int> layers = layers_per_stage(job_.model, job_.layout);
  parts.tokens = whole.batch.sequence;
  parts.attention_forward = attention_of(whole, Pass::forward).origin;
  parts.attention_backward = attention_of(whole, Pass::backward_input).origin;
  if (job_.recompute.has(RecomputeModule::core_attn)) cost.context_runs = 2;
  for (const Op& op : tensor_parallel_recomputed(whole, Block::layer, {})) {
    if (is_attention(op)) cost.attention_runs = 2;
  }
  const AttentionSeconds of_half = attention_of(half);
  const AttentionSeconds of_whole = attention_of(whole);
  std::size_t first_layer = 0;
  for (std::size_t s = 0; s < whole_chunks.size(); ++s) {
    StageParts& stage = parts.stages.emplace_back();
    stage.whole = whole_chunks[s];
    stage.layers = static_cast<double>(layers[s]) / job_.model.layers;
    measure_stage(half_chunks[s], half.batch.sequence,
                  {of_half.of_share(stage.layers), of_whole.of_share(stage.layers)}, cost, parts,
                  stage);
    measure_routed(whole, first_layer, layers[s], stage);
    first_layer += layers[s];
  }
}

void LengthCosts::measure_routed(const Job& whole, std::size_t first_layer, std::size_t layers,
                                 StageParts& stage) const {
  int routing = 0;
  for (std::size_t layer = first_layer; layer < first_layer + layers; ++layer) {
    routing += job_.model.is_moe(static_cast<int>(layer)) ? 1 : 0;
  }
  if (routing == 0) return;
  const BlockSetting setting(whole, {});
  const double per_token =
      routing * static_cast<double>(whole.layout.cp) / whole.batch.sequence;  // on a GPU
  const auto add = [&](const std::vector<Op>& ops, Category category, std::size_t pass) {
    for (const Op& op : ops) {
      if (!op.routed) continue;
      const OpCost cost = setting.cost(op);
      add_cost(stage.routed[pass], category, cost.origin, per_token * cost.seconds);
    }
  };
  add(block_ops(whole, Block::moe_layer, Pass::forward), Category::forward, 0);
  add(block_ops(whole, Block::moe_layer, Pass::backward_input), Category::backward, 1);
  add(block_ops(whole, Block::moe_layer, Pass::backward_weight), Category::backward, 2);
  add(tensor_parallel_recomputed(whole, Block::moe_layer, {}), Category::recompute, 3);
}

// `attention` has the times of the stage's attention in the half pack and in the whole pack.
void LengthCosts::measure_stage(const ChunkCost& half, double half_tokens,
                                const std::array<AttentionSeconds, 2>& attention, DegreeCost& cost,
                                const Parts& parts, StageParts& stage) const {
  for (int pass = 0; pass < kPasses; ++pass) {
    const bool forward = pass == 0 || (pass == 3 && cost.attention_runs > 1);
    const Origin origin = forward ? parts.attention_forward : parts.attention_backward;
    const auto attention_s = [&](const AttentionSeconds& of) {
      if (forward) return of.forward_s;
      return pass == 1 ? of.backward_s : 0;
    };
    const std::vector<CostPart>& at_whole = stage.whole.*kPassParts[pass];
    const std::vector<CostPart>& at_half = half.*kPassParts[pass];
    for (const CostPart& kind : kinds_of(at_whole, at_half)) {
      const Line line = line_through(
          parts.tokens, without_attention(at_half, kind, origin, attention_s(attention[0])),
          without_attention(at_whole, kind, origin, attention_s(attention[1])));
      stage.passes[pass].push_back({kind.category, kind.origin, line});
      cost.other.fixed += line.fixed;
      cost.other.slope += line.slope;
    }
  }
  // FLOPs of x tokens are a x + b x^2.
  const double x = half_tokens;
  const double y = parts.tokens;
  stage.square_flops =
      (stage.whole.hardware_flops / y - half.hardware_flops / x) / std::max(1.0, y - x);
  stage.token_flops = stage.whole.hardware_flops / y - stage.square_flops * y;
}

void LengthCosts::measure_context(const Job& half, const Job& whole, DegreeCost& cost,
                                  Parts& parts) const {
  if (cost.ranks == 1) return;
  const ContextShapes shapes = {context_ring_shape(whole.layout, whole.cluster),
                                context_exchange_shape(whole.layout, whole.cluster)};
  const double layers = job_.model.layers;
  const double steps = whole.layout.ring_ranks();
  for (const Pass pass : {Pass::forward, Pass::backward_input}) {
    const ContextRounds at_half = context_rounds(BlockSetting(half, {}), shapes, pass);
    const ContextRounds at_whole = context_rounds(BlockSetting(whole, {}), shapes, pass);
    const auto line = [&](InnerRound ContextRounds::*round) {
      return line_through(parts.tokens, layers * collectives_s(at_half.*round),
                          layers * collectives_s(at_whole.*round));
    };
    ContextCost& context = pass == Pass::forward ? cost.forward : cost.backward;
    context.exchange = line(&ContextRounds::exchange);
    context.ring = line(&ContextRounds::ring);
    context.beside_share = (steps - 1) / steps;
    parts.exchange = at_whole.exchange.origin;
    parts.ring = at_whole.ring.origin;
  }
}

std::vector<AttentionSeconds> LengthCosts::attention(std::size_t degree,
                                                     const std::vector<int>& lengths) const {
  Job job = job_of_degree(job_, degrees_[degree].ranks, 1);
  std::vector<AttentionSeconds> seconds;
  for (const int length : lengths) {
    job.batch.sequence = length;
    seconds.push_back(attention_of(job));
  }
  return seconds;
}

std::size_t LengthCosts::least_degree(double length) const {
  for (std::size_t i = 0; i < degrees_.size(); ++i) {
    if (length <= degrees_[i].capacity) return i;
  }
  throw Error(
      fmt::format("a sequence of {:.0f} tokens does not fit {} GPUs with {:.0f} tokens each",
                  length, degrees_.back().ranks, degrees_.back().capacity / degrees_.back().ranks));
}

LengthCosts LengthCosts::with_room(double tokens_per_gpu) const {
  LengthCosts costs = *this;
  for (DegreeCost& cost : std::span(costs.degrees_).first(costs.degrees_.size() - 1)) {
    cost.capacity = cost.ranks * tokens_per_gpu;
  }
  return costs;
}

std::vector<ChunkCost> LengthCosts::pack(std::size_t degree, double tokens, double squares,
                                         const AttentionSeconds& attention) const {
  const Parts& parts = parts_[degree];
  std::vector<ChunkCost> chunks;
  for (const StageParts& stage : parts.stages) {
    chunks.push_back(stage_cost(degrees_[degree], parts, stage, tokens, squares, attention));
  }
  return chunks;
}

void LengthCosts::add_expert_tokens(std::size_t degree, std::size_t stage, double tokens,
                                    ChunkCost& chunk) const {
  const StageParts& parts = parts_[degree].stages[stage];
  for (int pass = 0; pass < kPasses; ++pass) {
    std::vector<CostPart>& to = chunk.*kPassParts[pass];
    for (const CostPart& routed : parts.routed[pass]) {
      const double seconds = tokens * routed.seconds;
      const auto known = std::ranges::find_if(to, [&](const CostPart& part) {
        return part.category == routed.category && part.origin == routed.origin;
      });
      if (known != to.end()) {
        known->seconds = std::max(0.0, known->seconds + seconds);
      } else if (seconds > 0) {
        to.push_back({routed.category, routed.origin, seconds});
      }
    }
  }
}

ChunkCost LengthCosts::stage_cost(const DegreeCost& cost, const Parts& parts,
                                  const StageParts& stage, double tokens, double squares,
                                  const AttentionSeconds& attention) const {
  const double share = tokens / parts.tokens;
  const AttentionSeconds own = attention.of_share(stage.layers);
  ChunkCost chunk = stage.whole;
  for (double ChunkCost::*bytes : {&ChunkCost::activation_bytes, &ChunkCost::offloaded_bytes,
                                   &ChunkCost::weight_activation_bytes, &ChunkCost::transient_bytes,
                                   &ChunkCost::recomputed_bytes, &ChunkCost::boundary_bytes}) {
    chunk.*bytes *= share;
  }
  for (double& bytes : chunk.offloaded_of_layers) bytes *= share;
  chunk.hardware_flops = stage.token_flops * tokens + stage.square_flops * squares;
  chunk.masked_flops *= squares / (parts.tokens * parts.tokens);
  for (int pass = 0; pass < kPasses; ++pass) {
    std::vector<CostPart>& to = chunk.*kPassParts[pass];
    to.clear();
    for (const PartLine& part : stage.passes[pass]) {
      add_cost(to, part.category, part.origin, part.seconds.at(tokens));
    }
  }
  add_cost(chunk.forward, Category::forward, parts.attention_forward, own.forward_s);
  add_cost(chunk.backward_input, Category::backward, parts.attention_backward, own.backward_s);
  if (cost.attention_runs > 1) {
    add_cost(chunk.recompute, Category::recompute, parts.attention_forward, own.forward_s);
  }
  const auto add_context = [&](const ContextCost& context, double beside_s,
                               std::vector<CostPart>& to) {
    add_cost(to, Category::cp, parts.exchange, stage.layers * context.exchange.at(tokens));
    add_cost(to, Category::cp, parts.ring, stage.layers * context.ring_s(tokens, beside_s));
  };
  add_context(cost.forward, attention.forward_s, chunk.forward);
  add_context(cost.backward, attention.backward_s, chunk.backward_input);
  if (cost.context_runs > 1) add_context(cost.forward, attention.forward_s, chunk.recompute);
  return chunk;
}

}  // namespace windtunnel
