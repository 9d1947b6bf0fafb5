// How far predicted speed-ups were off: scenarios/library/measured_pairs.yaml, which `windtunnel
// validate runs --measured-pairs FILE` writes.
#pragma once

#include <string>
#include <vector>

#include "models/results/speed_up.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

const std::vector<MeasuredPairs>& measured_pairs();
// Throws Error with location: a key is missing, or the last entry does not have the keys of all.
std::vector<MeasuredPairs> read_measured_pairs(const DocumentNode& document);

// The text is in the format of the library's file.
std::string measured_pairs_text(const std::vector<MeasuredPairs>& pairs);

}  // namespace windtunnel
