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

// The case of such a text, with a host that launches kernels faster than any GPU here computes: the
// models are so small that all of them would wait for their hosts, and what GPUs and networks do
// would hardly show. There a faster GPU may also cost up to 3 % of a step, as an order that was
// made for one ratio of forward and backward passes meets another. Throws Error where the reader
// refuses the text.
Case with_fast_host(const std::string& text, const std::string& file);

// The case of the scenario of this number; nothing where the reader refuses it.
std::optional<Case> random_case(std::uint64_t number);

}  // namespace windtunnel
