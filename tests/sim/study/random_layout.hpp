// Scenarios drawn at random in which ranks of a replica talk to each other, by every axis and form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scenarios/language/case.hpp"

namespace windtunnel {

enum class InnerSpread {
  in_node,   // groups of tensor, context and expert parallelism lie within NVSwitch domains
  anywhere,  // several of them across nodes, on any fabric
};

// The text of the scenario of this number. Parts that do not go together are drawn too: the reader
// refuses those.
std::string random_layout(std::uint64_t number, InnerSpread spread);

// The case of that text; nothing where the reader refuses it.
std::optional<Case> random_layout_case(std::uint64_t number, InnerSpread spread);

}  // namespace windtunnel
