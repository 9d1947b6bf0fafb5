// A Record as the few lines that a busy person reads: the console prints them, the page shows them.
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
// How far predictions are off: by the calibration, or as the measured runs that are most alike.
std::string cost_models_text(const Record& record);

// Model, machine, axes of the layout, sharding, schedule, precision, overlap, compressor, batch: a
// phrase each, so that where one is varied the others are still what points have in common.
std::vector<std::string> job_facts(const Job& job);
// What several jobs have in common, in one line.
std::string shared_facts(const std::vector<std::vector<std::string>>& jobs);

// "tp 8 x pp 16 x dp 128, ZeRO-1": what differs from 1.
std::string layout_text(const Layout& layout);

// What an iteration works through: tokens, of a table of layers samples.
const char* item_noun(const Job& job);
std::string batch_text(const Job& job);  // "2,048 x 8,192 tokens"

}  // namespace windtunnel
