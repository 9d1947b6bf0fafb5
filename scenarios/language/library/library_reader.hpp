// Converts texts of the library to values. Every number is {value, low, high, origin, source}; an
// entry may name an `origin` and `source` for its plain numbers.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/units.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

// The embedded file at `path` ("nodes.yaml"), which must be there.
DocumentNode library_document(std::string_view path);

// Reads one set of rows, {file, where}, or a list of such sets. Throws Error with location.
std::vector<FittedOn> read_fitted_on(const DocumentNode& node);

// A number of at least 0 with its own evidence. Throws Error with location.
Parameter read_number(const DocumentNode& node, Dimension dimension, const std::string& key);

// Each throws Error with location: unknown key, missing key, missing evidence, wrong unit.
std::vector<GpuSpec> read_gpus(const DocumentNode& document);
std::vector<NodeSpec> read_nodes(const DocumentNode& document, const std::vector<GpuSpec>& gpus);
std::vector<TransformerSpec> read_models(const DocumentNode& document);
std::vector<NamedFabric> read_fabrics(const DocumentNode& document);
Calibration read_calibration(const DocumentNode& document);
// Changes only those numbers of `law` that the map `layer` states.
void read_law_layer(const DocumentNode& layer, InterconnectLaw& law);

}  // namespace windtunnel
