// The copies of a group of nodes by its tier's code, in stripes: of n members with m of parity,
// stripe s has its parity at members s, s + 1, ... s + m - 1 (mod n) and a block of each of the
// others. So a member keeps its own data and m / (n - m) of its size as parity of the others
// (models/reliability/snapshot.hpp).
#pragma once

#include <optional>
#include <vector>

#include "models/reliability/snapshot.hpp"
#include "tests/validate/harness/drill/kept_process.hpp"

namespace windtunnel {

// [member] what it keeps for the others: m blocks for a code over stripes, in the order of stripes.
std::vector<Bytes> parity_of(const ErasureCode& code, const std::vector<Bytes>& states);

// [member] all states, from those that are left: nothing where a member has lost what it kept.
// Nothing: more are lost than the code covers.
std::optional<std::vector<Bytes>> rebuilt(const ErasureCode& code,
                                          std::vector<std::optional<Bytes>> states,
                                          const std::vector<std::optional<Bytes>>& parities,
                                          std::size_t size_bytes);

}  // namespace windtunnel
