// The matrices of a layer that have adapters, as one GPU holds them.
#pragma once

#include <vector>

#include "models/workload/layout.hpp"
#include "models/workload/software.hpp"
#include "models/workload/training.hpp"
#include "models/workload/transformer.hpp"

namespace windtunnel {

// A matrix with an adapter, with its inputs and outputs on this GPU. In the first product of
// attention or MLP, tp divides the outputs and thus the second factors; in the second product, it
// divides the inputs and thus the first factors. On a mesh both dimensions are whole here, and
// `count` is the share of the matrix that a rank has.
struct AdaptedMatrix {
  LinearSite site = LinearSite::none;
  double in = 0;
  double out = 0;
  double count = 1;     // matrices of this kind: the experts on this GPU
  bool expert = false;  // the number of its rows depends on the router

  double first_parameters(int rank) const { return count * in * rank; }
  double second_parameters(int rank) const { return count * rank * out; }
};
// The Adapter::per_product of a job. If the software keeps matrices apart, each has its own pair.
inline bool pairs_per_product(const TransformerSpec& model, const Software& software) {
  const bool apart = model.separate_projections && software.fusion != Fusion::partial;
  return software.adapter_per_product && !apart;
}

// The matrices are in the order of the forward pass.
std::vector<AdaptedMatrix> adapted_matrices(const TransformerSpec& model, const Layout& layout,
                                            const Adapter& adapter, Block block);

// Counts the parameters of one layer's adapters on this GPU.
struct AdapterParameters {
  double trained = 0;
  double trained_experts = 0;  // the part of `trained` that is in experts
  double frozen = 0;           // LoRA-FA's first factors
  double frozen_experts = 0;
};
AdapterParameters adapter_parameters(const TransformerSpec& model, const Layout& layout,
                                     const Adapter& adapter, Block block);

}  // namespace windtunnel
