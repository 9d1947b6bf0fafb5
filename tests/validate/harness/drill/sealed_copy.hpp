// A copy of a state that says which iteration it is of, and whether it is whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace windtunnel {

using Bytes = std::vector<std::byte>;

Bytes sealed(Bytes state, std::int64_t iteration);
// Whether it is of that iteration and no byte differs from what was sealed.
bool is_whole(const Bytes& copy, std::int64_t iteration);
// The state; nothing: there is no copy, or it is not whole.
std::optional<Bytes> unsealed(std::optional<Bytes> copy, std::int64_t iteration);

}  // namespace windtunnel
