#include "tests/validate/harness/drill/sealed_copy.hpp"

#include <array>
#include <cstring>
#include <span>

namespace windtunnel {
namespace {

using Seal = std::array<std::uint64_t, 2>;  // iteration, checksum

// The checksum is FNV-1a (Fowler, Noll, Vo).
std::uint64_t checksum(std::span<const std::byte> bytes) {
  std::uint64_t sum = 14695981039346656037ULL;
  for (const std::byte value : bytes) {
    sum = (sum ^ static_cast<std::uint64_t>(value)) * 1099511628211ULL;
  }
  return sum;
}

}  // namespace

Bytes sealed(Bytes state, std::int64_t iteration) {
  const Seal seal = {static_cast<std::uint64_t>(iteration), checksum(state)};
  const auto* at = reinterpret_cast<const std::byte*>(seal.data());
  state.insert(state.end(), at, at + sizeof seal);
  return state;
}

bool is_whole(const Bytes& copy, std::int64_t iteration) {
  Seal seal = {};
  if (copy.size() < sizeof seal) return false;
  const std::size_t size_bytes = copy.size() - sizeof seal;
  std::memcpy(seal.data(), copy.data() + size_bytes, sizeof seal);
  return seal[0] == static_cast<std::uint64_t>(iteration) &&
         seal[1] == checksum(std::span(copy).first(size_bytes));
}

std::optional<Bytes> unsealed(std::optional<Bytes> copy, std::int64_t iteration) {
  if (!copy || !is_whole(*copy, iteration)) return {};
  copy->resize(copy->size() - sizeof(Seal));
  return copy;
}

}  // namespace windtunnel
