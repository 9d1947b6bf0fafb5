// A sealed copy of a state records its iteration and a checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace windtunnel {

using Bytes = std::vector<std::byte>;

Bytes sealed(Bytes state, std::int64_t iteration);
// Returns whether the copy is of that iteration and no byte differs from the sealed ones.
bool is_whole(const Bytes& copy, std::int64_t iteration);
// Returns the state, or nothing if there is no copy or it is not whole.
std::optional<Bytes> unsealed(std::optional<Bytes> copy, std::int64_t iteration);

}  // namespace windtunnel
