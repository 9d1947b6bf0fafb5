// The matrices of a layer that an adapter is on, as one GPU has them.
#pragma once

#include <vector>

#include "models/workload/layout.hpp"
#include "models/workload/software.hpp"
#include "models/workload/training.hpp"
#include "models/workload/transformer.hpp"

namespace windtunnel {

// A matrix with an adapter: its inputs and outputs on this GPU. tp divides the outputs of the first
// product of a half, and with them its second factors, and the inputs of the second product with
// its first factors. On a mesh both are whole here, and a rank has a block of each: `count` is its
// share.
struct AdaptedMatrix {
  LinearSite site = LinearSite::none;
  double in = 0;
  double out = 0;
  double count = 1;     // matrices of this kind: the experts on this GPU
  bool expert = false;  // the router decides which rows it gets

  double first_parameters(int rank) const { return count * in * rank; }
  double second_parameters(int rank) const { return count * rank * out; }
};
// Adapter::per_product of a job: products that the software keeps apart have a pair each.
inline bool pairs_per_product(const TransformerSpec& model, const Software& software) {
  const bool apart = model.separate_projections && software.fusion != Fusion::partial;
  return software.adapter_per_product && !apart;
}

// In the order of the forward pass.
std::vector<AdaptedMatrix> adapted_matrices(const TransformerSpec& model, const Layout& layout,
                                            const Adapter& adapter, Block block);

// Parameters of the adapters of one layer on this GPU.
struct AdapterParameters {
  double trained = 0;
  double trained_experts = 0;  // those of them in experts
  double frozen = 0;           // LoRA-FA's first factors
  double frozen_experts = 0;
};
AdapterParameters adapter_parameters(const TransformerSpec& model, const Layout& layout,
                                     const Adapter& adapter, Block block);

}  // namespace windtunnel
