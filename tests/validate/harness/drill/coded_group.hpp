// A group of nodes protects its states by its tier's code, in stripes: with n members, m of them
// for parity, stripe s has its parity at members s, s + 1, ... s + m - 1 (mod n) and a block of
// each other member. So a member keeps its own data and m / (n - m) of that size as parity
// (models/reliability/snapshot.hpp).
#pragma once

#include <optional>
#include <vector>

#include "models/reliability/snapshot.hpp"
#include "tests/validate/harness/drill/kept_process.hpp"

namespace windtunnel {

// Returns for each member the parity that it keeps: m blocks for a code over stripes, in the order
// of stripes.
std::vector<Bytes> parity_of(const ErasureCode& code, const std::vector<Bytes>& states);

// Returns the states of all members, computed from what is left; a member without input has lost
// everything. Returns nothing if more members are lost than the code covers.
std::optional<std::vector<Bytes>> rebuilt(const ErasureCode& code,
                                          std::vector<std::optional<Bytes>> states,
                                          const std::vector<std::optional<Bytes>>& parities,
                                          std::size_t size_bytes);

}  // namespace windtunnel
