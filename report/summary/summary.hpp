// A short summary of a Record, for the console and the page.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/results/record.hpp"
#include "report/figures/figures.hpp"
#include "report/text/answer.hpp"

namespace windtunnel {

Answer summarise(const Record& record);

inline constexpr const char* kCertaintyTitle = "How sure this is";
// How far predictions may be off: by the calibration's error, or as far as the most similar
// measured runs.
std::string cost_models_text(const Record& record);

// Model, machine, axes of the layout, sharding, schedule, precision, overlap, compressor, batch: a
// phrase each. If one varies between points, the others are still what the points have in common.
std::vector<std::string> job_facts(const Job& job);
// The facts that several jobs share, in one line.
std::string shared_facts(const std::vector<std::vector<std::string>>& jobs);

// "tp 8 x pp 16 x dp 128, ZeRO-1": only axes above 1.
std::string layout_text(const Layout& layout);

// The items that an iteration processes: tokens, or samples of a table of layers.
const char* item_noun(const Job& job);
std::string batch_text(const Job& job);  // "2,048 x 8,192 tokens"

}  // namespace windtunnel
