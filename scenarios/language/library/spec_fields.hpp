// Keys of a fabric, and keys of a model, must satisfy these relations in library and scenarios.
#pragma once

#include <string_view>
#include <vector>

#include "models/machine/fabric.hpp"
#include "models/workload/transformer.hpp"
#include "scenarios/language/text/choices.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {

// Whether fabrics of this topology have the key, which is below "cluster.fabric".
bool belongs_to(std::string_view key, Topology topology);

// The keys below "cluster.fabric" that set members of FabricSpec: first those that only some
// topologies have, then the common ones. Lists and identities keep this order.
std::vector<BoundRow> fabric_members();

// Whether 0 means that the entry leaves the key open: for optional keys, and for the sequence
// length, which the scenario states.
inline bool zero_is_open(const Field& field) {
  return field.in_entry == InEntry::may || field.path == "model.sequence";
}

// Checks relations between the numbers of a model; throws Error that names the keys.
void check_model(const TransformerSpec& model);

}  // namespace windtunnel
