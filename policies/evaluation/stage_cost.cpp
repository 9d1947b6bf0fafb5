#include "policies/evaluation/stage_cost.hpp"

namespace windtunnel {
namespace {

// Returns the time that an overlapped partner can hide.
double expert_s(const std::vector<CostPart>& parts) {
  double seconds = 0;
  for (const CostPart& part : parts) {
    if (part.category == Category::ep) seconds += part.seconds;
  }
  return seconds;
}

double apart_s(const std::vector<CostPart>& parts) {
  double seconds = 0;
  for (const CostPart& part : parts) {
    if (!slowed_by_node(part.category)) seconds += part.seconds;
  }
  return seconds;
}

}  // namespace

StageCost slowed(StageCost cost, double slowdown) {
  const double more = slowdown - 1;
  cost.forward_s += more * (cost.forward_s - cost.forward_apart_s);
  cost.backward_input_s += more * (cost.backward_input_s - cost.backward_input_apart_s);
  cost.backward_weight_s += more * (cost.backward_weight_s - cost.backward_weight_apart_s);
  cost.recompute_s += more * (cost.recompute_s - cost.recompute_apart_s);
  return cost;
}

StageCost stage_cost(const ChunkCost& chunk) {
  StageCost stage;
  stage.forward_s = total_seconds(chunk.forward);
  stage.backward_input_s = total_seconds(chunk.backward_input);
  stage.backward_weight_s = total_seconds(chunk.backward_weight);
  stage.activation = chunk.activation_bytes;
  stage.weight_activation = chunk.weight_activation_bytes;
  stage.recomputed = chunk.recomputed_bytes;
  stage.recompute_s = total_seconds(chunk.recompute);
  stage.forward_hideable_s = expert_s(chunk.forward);
  stage.backward_hideable_s = expert_s(chunk.backward_input);
  stage.forward_apart_s = apart_s(chunk.forward);
  stage.backward_input_apart_s = apart_s(chunk.backward_input);
  stage.backward_weight_apart_s = apart_s(chunk.backward_weight);
  stage.recompute_apart_s = apart_s(chunk.recompute);
  return stage;
}

std::vector<StageCost> stage_costs(const std::vector<ChunkCost>& chunks) {
  std::vector<StageCost> stages;
  stages.reserve(chunks.size());
  for (const ChunkCost& chunk : chunks) stages.push_back(stage_cost(chunk));
  return stages;
}

}  // namespace windtunnel
