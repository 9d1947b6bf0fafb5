// Muon's update of matrices: the momentum of each, made orthogonal by five steps of a Newton-Schulz
// iteration in 16 bit (Jordan et al. 2024, github.com/KellerJordan/Muon; at scale Liu et al. 2025,
// arXiv 2502.16982). For a matrix of s rows and l columns, s the shorter side, a step has products
// of 2 s^2 l, 2 s^3 and 2 s^2 l operations. As in Megatron-LM: each rank of tp takes its own block
// of a matrix (--muon-tp-mode blockwise), and where replicas share the optimizer's state each
// matrix and its momentum belong to one of them (LayerWiseDistributedOptimizer,
// github.com/NVIDIA/Megatron-LM 00639331, megatron/core/optimizer/layer_wise_optimizer.py).
// Embedding, head and vectors have Adam.
#pragma once

#include "models/plan/job.hpp"

namespace windtunnel {

// The share of a model's parameters that stand in matrices, which Muon updates.
double muon_share(const TransformerSpec& model);
// That share of its experts' parameters, or of all others.
double muon_share(const TransformerSpec& model, bool experts);

// The time of a rank that updates so many parameters of the usual mix; no less than its longest
// matrix, where it takes whole ones.
struct OrthogonalCost {
  double seconds = 0;
  Origin origin = Origin::assumed;
};
OrthogonalCost orthogonal_cost(double parameters, const Job& job);

}  // namespace windtunnel
