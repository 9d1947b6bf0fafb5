// Muon's update of matrices: each momentum is orthogonalised by five steps of a Newton-Schulz
// iteration in 16 bit (Jordan et al. 2024, github.com/KellerJordan/Muon; at scale Liu et al. 2025,
// arXiv 2502.16982). For a matrix with sides s <= l, a step has products of 2 s^2 l, 2 s^3 and 2
// s^2 l operations. As in Megatron-LM, each rank of tp updates its own block of a matrix
// (--muon-tp-mode blockwise), and if replicas share the optimizer state, each matrix and its
// momentum belong to one of them (LayerWiseDistributedOptimizer, github.com/NVIDIA/Megatron-LM
// 00639331, megatron/core/optimizer/layer_wise_optimizer.py). Embedding, head and vectors use Adam.
#pragma once

#include "models/plan/job.hpp"

namespace windtunnel {

// The share of a model's parameters in matrices, which Muon updates.
double muon_share(const TransformerSpec& model);
// The same share among the parameters of experts, or among all others.
double muon_share(const TransformerSpec& model, bool experts);

// Update time of a rank whose parameters have the model's share of matrices. If ranks take whole
// matrices, it is at least the time of the largest one.
struct OrthogonalCost {
  double seconds = 0;
  Origin origin = Origin::assumed;
};
OrthogonalCost orthogonal_cost(double parameters, const Job& job);

}  // namespace windtunnel
