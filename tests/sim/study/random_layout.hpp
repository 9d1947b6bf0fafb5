// Random scenarios in which the ranks of a replica communicate along every axis and in every form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scenarios/language/case.hpp"

namespace windtunnel {

enum class InnerSpread {
  in_node,   // groups of tensor, context and expert parallelism lie within NVSwitch domains
  anywhere,  // several of these groups span nodes, on any fabric
};

// Returns the text of the scenario of this number. The parts may conflict; the reader refuses such
// a text.
std::string random_layout(std::uint64_t number, InnerSpread spread);

// Returns the case of that text, or nothing if the reader refuses it.
std::optional<Case> random_layout_case(std::uint64_t number, InnerSpread spread);

}  // namespace windtunnel
