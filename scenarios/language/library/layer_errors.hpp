// Errors of gradients by layer, measured by the user, from which L-GreCo chooses. A file is CSV
// with a line for each number of each layer: `layer` (a name), `rows` and `columns` (its gradient
// as a GPU holds it), `number` (rank, density or bits, as the base has it) and `error` (mean
// squared error of an element over the mean square of the elements of all gradients). Each layer
// has the base's usual number, with which one choice for all layers is compared.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/compression/recipe.hpp"
#include "traces/text/csv.hpp"

namespace windtunnel {

// `base` as CompressorChoice has it. Throws Error with file, line and column.
std::shared_ptr<const std::vector<LayerErrors>> layer_errors_of(CsvTable table,
                                                                const std::string& base);

// Throws Error that names a layer none of the tensors has the shape of.
void check_layer_errors(const std::vector<LayerErrors>& errors,
                        const std::vector<TensorShape>& tensors);

}  // namespace windtunnel
