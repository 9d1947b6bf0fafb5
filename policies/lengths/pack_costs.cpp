#include "policies/lengths/pack_costs.hpp"

#include <algorithm>
#include <map>

#include "models/cost/op/block_cost.hpp"

namespace windtunnel {
namespace {

struct PackSlice {
  double tokens = 0;
  double squares = 0;
  AttentionSeconds attention = {};
};

// Divides a pack into slices with equally many tokens. Under the causal mask the tokens from a to b
// of a sequence of n tokens take the share (b^2 - a^2) / n^2 of its attention.
std::vector<PackSlice> slices_of(const LengthPack& pack, const std::vector<int>& lengths,
                                 const std::vector<AttentionSeconds>& attention, int slices) {
  std::vector<PackSlice> all(slices);
  double begin = 0;
  for (const int sequence : pack.sequences) {
    const double length = lengths[sequence];
    for (int s = 0; s < slices; ++s) {
      const double from = std::clamp(s * pack.tokens / slices - begin, 0.0, length);
      const double to = std::clamp((s + 1) * pack.tokens / slices - begin, 0.0, length);
      const double squares = to * to - from * from;
      all[s].tokens += to - from;
      all[s].squares += squares;
      all[s].attention += attention[sequence].of_share(squares / (length * length));
    }
    begin += length;
  }
  return all;
}

void add_slice(const ChunkCost& slice, double packs, ChunkCost& whole, ChunkCost& mean) {
  add_costs(mean.forward, slice.forward, 1 / packs);
  add_costs(mean.backward_input, slice.backward_input, 1 / packs);
  add_costs(mean.backward_weight, slice.backward_weight, 1 / packs);
  add_costs(mean.recompute, slice.recompute, 1 / packs);
  mean.transient_bytes = std::max(mean.transient_bytes, slice.transient_bytes);
  whole.activation_bytes += slice.activation_bytes;
  whole.offloaded_bytes += slice.offloaded_bytes;
  whole.offloaded_of_layers.resize(slice.offloaded_of_layers.size(), 0);
  for (std::size_t i = 0; i < slice.offloaded_of_layers.size(); ++i) {
    whole.offloaded_of_layers[i] += slice.offloaded_of_layers[i];
  }
}

}  // namespace

PackCosts::PackCosts(const Job& job, const LengthCosts& costs, const LengthPlan& plan,
                     const std::vector<int>& lengths)
    : costs_(costs), plan_(plan), slices_(job.schedule.slices) {
  const bool apart = slices_ > 1 || !job.cluster.pools.empty();
  std::map<std::size_t, std::vector<AttentionSeconds>> attention;  // [degree]
  for (const std::vector<LengthPack>& round : plan.rounds) {
    std::vector<std::vector<ChunkCost>>& of_round = packs_.emplace_back();
    for (const LengthPack& pack : round) {
      std::vector<AttentionSeconds>& of_degree = attention[pack.degree];
      if (apart && of_degree.empty()) of_degree = costs.attention(pack.degree, lengths);
      of_round.push_back(of_pack(pack, lengths, of_degree));
    }
  }
  idle_.resize(packs_.front().front().size());
  for (std::size_t i = 0; i < idle_.size(); ++i) {
    const ChunkCost& any = packs_.front().front()[i];
    for (double ChunkCost::*held : {&ChunkCost::parameters, &ChunkCost::expert_parameters,
                                    &ChunkCost::frozen_parameters, &ChunkCost::frozen_experts}) {
      idle_[i].*held = any.*held;
    }
    idle_[i].passes_gradient = any.passes_gradient;
  }
  for (std::size_t stage = 0; stage * slices_ < idle_.size(); ++stage) {
    means_.push_back(mean_of_stage(stage));
  }
}

std::vector<ChunkCost> PackCosts::of(const PackPass& pass) const {
  std::vector<ChunkCost> units = pass.pack < 0 ? idle_ : packs_[pass.round][pass.pack];
  if (pass.expert_tokens == 0) return units;
  const std::size_t degree = pass.pack < 0 ? 0 : plan_.rounds[pass.round][pass.pack].degree;
  for (std::size_t i = 0; i < units.size(); ++i) {
    costs_.add_expert_tokens(degree, i / slices_, pass.expert_tokens / slices_, units[i]);
  }
  return units;
}

std::vector<ChunkCost> PackCosts::of_pack(const LengthPack& pack, const std::vector<int>& lengths,
                                          const std::vector<AttentionSeconds>& attention) const {
  if (attention.empty()) {
    double squares = 0;
    for (const int sequence : pack.sequences)
      squares += double(lengths[sequence]) * lengths[sequence];
    return costs_.pack(pack.degree, pack.tokens, squares, pack.attention);
  }
  std::vector<ChunkCost> units;
  const std::vector<PackSlice> slices = slices_of(pack, lengths, attention, slices_);
  for (int s = 0; s < slices_; ++s) {
    const PackSlice& slice = slices[s];
    const std::vector<ChunkCost> stages =
        costs_.pack(pack.degree, slice.tokens, slice.squares, slice.attention);
    units.resize(stages.size() * slices_);
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      units[stage * slices_ + s] = stages[stage];
    }
  }
  return units;
}

ChunkCost PackCosts::mean_of_stage(std::size_t stage) const {
  ChunkCost mean = idle_[stage * slices_];
  double packs = 0;
  for (const auto& round : packs_) packs += static_cast<double>(round.size());
  for (const auto& round : packs_) {
    for (const std::vector<ChunkCost>& pack : round) {
      ChunkCost whole;
      for (int s = 0; s < slices_; ++s) add_slice(pack[stage * slices_ + s], packs, whole, mean);
      mean.activation_bytes = std::max(mean.activation_bytes, whole.activation_bytes);
      if (whole.offloaded_bytes <= mean.offloaded_bytes) continue;
      mean.offloaded_bytes = whole.offloaded_bytes;
      mean.offloaded_of_layers = whole.offloaded_of_layers;
    }
  }
  return mean;
}

}  // namespace windtunnel
