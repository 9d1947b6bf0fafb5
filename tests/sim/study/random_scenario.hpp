// Small scenarios drawn at random for properties that hold of every scenario.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scenarios/language/case.hpp"

namespace windtunnel {

// The text of the scenario of this number. Parts that do not go together are drawn too: the reader
// refuses those.
std::string random_scenario(std::uint64_t number);

// The case of that text; nothing where the reader refuses it.
std::optional<Case> random_case(std::uint64_t number);

}  // namespace windtunnel
