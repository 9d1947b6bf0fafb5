// What the keys of fabrics and models have to do with one another, in the library and in a
// scenario.
#pragma once

#include <string_view>
#include <vector>

#include "models/machine/fabric.hpp"
#include "models/workload/transformer.hpp"
#include "scenarios/language/text/choices.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {

// Whether fabrics of this form have the key, which stands below "cluster.fabric".
bool belongs_to(std::string_view key, Topology topology);

// The keys below "cluster.fabric" that a member of FabricSpec holds: first those that only some
// forms have, then those of all. Lists and identities keep this order.
std::vector<BoundRow> fabric_members();

// 0 of a key that entries may leave out is none; a length of training is left to the scenario.
inline bool zero_is_open(const Field& field) {
  return field.in_entry == InEntry::may || field.path == "model.sequence";
}

// What the numbers of a model must have in common; throws Error that names the keys.
void check_model(const TransformerSpec& model);

}  // namespace windtunnel
