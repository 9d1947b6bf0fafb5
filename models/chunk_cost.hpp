// What one model chunk (one stage of the pipeline) costs one GPU per micro-batch.
#pragma once

#include <vector>

#include "models/calibration.hpp"
#include "models/cluster.hpp"
#include "models/op.hpp"
#include "models/task_cost.hpp"

namespace windtunnel {

struct ChunkCost {
  std::vector<CostPart> forward;           // compute, tp
  std::vector<CostPart> backward_input;
  std::vector<CostPart> backward_weight;
  std::vector<CostPart> recompute;         // before the backward
  double parameters = 0;                   // on this GPU (after tp)
  double activation_bytes = 0;             // kept from F to B, per micro-batch and GPU (M_B)
  double weight_activation_bytes = 0;      // of these, kept until W when the backward is split (M_W)
  double boundary_bytes = 0;               // sent to the next stage per micro-batch and GPU
  double hardware_flops = 0;               // of F + B + W + recompute on this GPU
};

// Size layout.stages(). Stage 0 holds the embedding, the last one the final norm and loss head.
std::vector<ChunkCost> chunk_costs(const TransformerSpec& model, const Cluster& cluster,
                                   const Layout& layout, const Batch& batch, Precision precision,
                                   Recompute recompute, const Calibration& calibration);

// The optimizer step of one GPU over the parameters that it updates.
std::vector<CostPart> optimizer_cost(double parameters, const GpuSpec& gpu,
                                     const Calibration& calibration);

}  // namespace windtunnel
