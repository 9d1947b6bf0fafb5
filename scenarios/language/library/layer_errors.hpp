// Errors of gradients by layer, measured by the user, from which L-GreCo chooses. The file is CSV.
// Each line has a `layer` (a name), `rows` and `columns` (its gradient as a GPU holds it), a
// `number` that the base compressor could use (rank, density or bits) and its `error` (mean squared
// error of an element over the mean square of the elements of all gradients). Each layer needs a
// line for the base's usual number, because the choice is compared with that number in all layers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/compression/recipe.hpp"
#include "traces/text/csv.hpp"

namespace windtunnel {

// `base` is CompressorChoice::base. Throws Error with file, line and column.
std::shared_ptr<const std::vector<LayerErrors>> layer_errors_of(CsvTable table,
                                                                const std::string& base);

// Throws Error that names a layer whose shape no tensor has.
void check_layer_errors(const std::vector<LayerErrors>& errors,
                        const std::vector<TensorShape>& tensors);

}  // namespace windtunnel
