#include "policies/length_costs.hpp"

#include <algorithm>
#include <cmath>

#include "models/chunk_cost.hpp"
#include "models/context_parallel.hpp"
#include "models/parallel_groups.hpp"

namespace windtunnel {
namespace {

bool is_attention(const Op& op) {
  const bool fused = op.kind == OpKind::attention_forward || op.kind == OpKind::attention_backward;
  return fused || op.kind == OpKind::attention_gemm || op.name == "softmax" ||
         op.name == "score dropout";
}

// Of a layer, both directions.
double layer_attention_s(const Job& job) {
  const BlockSetting setting(job, {});
  double seconds = 0;
  for (const Pass pass : {Pass::forward, Pass::backward_input}) {
    for (const Op& op : block_ops(job, Block::layer, pass)) {
      seconds += is_attention(op) ? setting.cost(op).seconds : 0;
    }
  }
  return seconds;
}

// All but attention and context parallelism, of the pipeline's slowest rank.
double other_s(const Job& job, double layers) {
  const std::vector<ChunkCost> chunks = chunk_costs(job);
  std::vector<double> ranks(job.layout.pp);
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) {
    const ChunkCost& chunk = chunks[stage];
    for (const auto* parts :
         {&chunk.forward, &chunk.backward_input, &chunk.backward_weight, &chunk.recompute}) {
      for (const CostPart& part : *parts) {
        if (part.category != Category::cp) ranks[stage % ranks.size()] += part.seconds;
      }
    }
  }
  return *std::ranges::max_element(ranks) - layers * layer_attention_s(job);
}

struct Line {
  double fixed = 0;
  double slope = 0;
};

Line line_through(double x, double at_x, double at_twice_x) {
  const double fixed = std::max(0.0, 2 * at_x - at_twice_x);  // below 0: tiles of a GEMM
  return {fixed, (at_twice_x - fixed) / (2 * x)};
}

}  // namespace

double DegreeCost::pack_s(double tokens, double attention_s) const {
  const double ring_s = ring_fixed_s + ring_token_s * tokens - beside_share * attention_s;
  return fixed_s + token_s * tokens + attention_s + exchange_fixed_s + exchange_token_s * tokens +
         std::max(0.0, ring_s);
}

LengthCosts::LengthCosts(const Job& job, const std::vector<int>& degrees, double tokens_per_gpu)
    : job_(job),
      gpus_(job.layout.cp * job.layout.dp),
      layers_(static_cast<double>(job.model.layers) / job.layout.pp) {
  for (const int ranks : degrees) {
    DegreeCost cost;
    cost.ranks = ranks;
    cost.capacity = ranks * tokens_per_gpu;
    const Job half = job_of(ranks, cost.capacity / 2);
    const Job whole = job_of(ranks, cost.capacity);
    const double tokens = half.batch.sequence;
    const auto line = [&](const auto& seconds) {
      return line_through(tokens, seconds(half), seconds(whole));
    };
    const Line other = line([&](const Job& at) { return other_s(at, layers_); });
    cost.fixed_s = other.fixed;
    cost.token_s = other.slope;
    const ContextShapes shapes = {context_ring_shape(whole.layout, whole.cluster),
                                  context_exchange_shape(whole.layout, whole.cluster)};
    const auto both = [&](const Job& at, double ContextSeconds::*part) {
      const BlockSetting setting(at, {});
      return layers_ * (context_seconds(setting, shapes, Pass::forward).*part +
                        context_seconds(setting, shapes, Pass::backward_input).*part);
    };
    const Line exchange =
        line([&](const Job& at) { return both(at, &ContextSeconds::exchange_s); });
    const Line ring = line([&](const Job& at) { return both(at, &ContextSeconds::ring_s); });
    cost.exchange_fixed_s = exchange.fixed;
    cost.exchange_token_s = exchange.slope;
    cost.ring_fixed_s = ring.fixed;
    cost.ring_token_s = ring.slope;
    const double steps = whole.layout.ring_ranks();
    cost.beside_share = whole.layout.context == ContextForm::rsa ? 0 : (steps - 1) / steps;
    degrees_.push_back(cost);
  }
}

Job LengthCosts::job_of(int ranks, double length) const {
  Job job = job_;
  job.layout.cp = ranks;
  job.layout.dp = gpus_ / ranks;
  job.batch.micro = 1;
  job.batch.global = job.layout.dp;
  job.batch.sequence = std::max(1, static_cast<int>(length));
  return job;
}

double LengthCosts::attention_s(std::size_t degree, double length) const {
  return layers_ * layer_attention_s(job_of(degrees_[degree].ranks, length));
}

std::size_t LengthCosts::least_degree(double length) const {
  for (std::size_t i = 0; i < degrees_.size(); ++i) {
    if (length <= degrees_[i].capacity) return i;
  }
  throw Error(
      fmt::format("a sequence of {:.0f} tokens does not fit {} GPUs with {:.0f} tokens each",
                  length, degrees_.back().ranks, degrees_.back().capacity / degrees_.back().ranks));
}

}  // namespace windtunnel
