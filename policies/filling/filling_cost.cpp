#include "policies/filling/filling_cost.hpp"

#include <algorithm>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/plan/task_cost.hpp"

namespace windtunnel {
namespace {

constexpr double kWeightBytes = 2;  // bytes per parameter of a model that is not trained

// Returns a job that has the forward pass of the model: one GPU, with nothing else on it.
Job forward_job(const Job& job, const FillingWork& work) {
  Job alone;
  alone.model = work.model->transformer;
  alone.network = work.model->network;
  alone.cluster = job.cluster;
  alone.cluster.nodes = 1;
  alone.cluster.node.gpus = 1;
  alone.cluster.places.clear();
  alone.cluster.ranks = {};
  alone.cluster.pools.clear();
  alone.batch = {.global = work.samples, .micro = work.samples, .sequence = alone.model.sequence};
  alone.precision = job.precision;
  alone.software = job.software;
  alone.software.tp_overlap = {};
  alone.calibration = job.calibration;
  return alone;
}

}  // namespace

FillingCost filling_cost(const Job& job, const FillingWork& work) {
  FillingCost cost{.piece_s = work.piece_s,
                   .pieces = std::max(1, work.pieces),
                   .resident_bytes = std::max(0.0, work.resident_bytes),
                   .working_bytes = std::max(0.0, work.working_bytes)};
  if (work.model == nullptr) return cost;
  const Job alone = forward_job(job, work);
  const ChunkCost chunk = chunk_costs(alone).front();
  const int layers = alone.model.layers;
  if (work.pieces == 0) cost.pieces = layers;
  cost.piece_s = total_seconds(chunk.forward) / cost.pieces;
  if (work.resident_bytes < 0) cost.resident_bytes = kWeightBytes * chunk.parameters;
  // Only the layer that runs takes memory: nothing is kept for a backward pass.
  if (work.working_bytes < 0) cost.working_bytes = chunk.activation_bytes / layers;
  cost.flops = flops_per_step(alone) / 3;  // a step has forward, backward and weight gradients
  cost.origin = Origin::spec;
  for (const CostPart& part : chunk.forward) cost.origin = weakest(cost.origin, part.origin);
  return cost;
}

}  // namespace windtunnel
