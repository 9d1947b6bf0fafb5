// Processes of a drill name the bytes that they hold; these are the names, and the kinds of tiers.
#pragma once

#include <fmt/format.h>

#include <string>

#include "models/reliability/snapshot.hpp"

namespace windtunnel {

inline constexpr const char* kDrilledState = "state";
inline std::string own_copy(int tier, int owner) {
  return fmt::format("{}-of-{}", tier, owner);
}
inline std::string parity_copy(int tier) {
  return fmt::format("{}-parity", tier);
}
inline std::string staged(const std::string& copy) {
  return copy + "-next";
}

inline bool over_stripes(const SnapshotTier& tier) {
  return tier.code.name == CodeName::xor_parity || tier.code.name == CodeName::reed_solomon;
}

}  // namespace windtunnel
