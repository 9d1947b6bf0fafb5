// How many parameters of a transformer a GPU holds under a layout.
#pragma once

#include <vector>

#include "models/workload/layout.hpp"
#include "models/workload/transformer.hpp"

namespace windtunnel {

// Parameters that one GPU of each stage holds, size layout.stages(): matrices divided by tp, norms
// and the biases of row-parallel layers repeated, the vocabulary padded. Tied embeddings are there
// twice when the first and last stage are on different ranks. Experts are divided by ep, whole
// ones each, and not by tp.
std::vector<double> stage_parameters(const TransformerSpec& model, const Layout& layout);

// Parameters on one GPU that ZeRO-3 holds whole at a time: the layer that runs, the next one, and
// the vocabulary (of FSDP's root unit, which stays).
double gathered_parameters(const TransformerSpec& model, const Layout& layout);

}  // namespace windtunnel
