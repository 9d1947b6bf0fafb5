// Small random scenarios test properties that hold for every scenario.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scenarios/language/case.hpp"

namespace windtunnel {

// Returns the text of the scenario of this number. The parts may conflict; the reader refuses such
// a text.
std::string random_scenario(std::uint64_t number);

// Returns the case of such a text, with a host that launches kernels faster than any GPU here runs
// them. Otherwise these small models would always wait for their hosts, and GPUs and networks would
// hardly matter. With such waits a faster GPU may also cost up to 3 % of a step, because a schedule
// suits one ratio of forward and backward times only. Throws Error if the reader refuses the text.
Case with_fast_host(const std::string& text, const std::string& file);

// Returns the case of the scenario of this number, or nothing if the reader refuses it.
std::optional<Case> random_case(std::uint64_t number);

}  // namespace windtunnel
