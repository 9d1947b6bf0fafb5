// A Record as the few lines that a busy person reads: the console prints them, the page shows them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/plan/job.hpp"
#include "models/results/company_report.hpp"
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

// Idle time in the lines of a summary: what fills it, and what waits for samples.

std::vector<SummarySection> idle_sections(const Record& record);

// The model of a run in words: what was computed for, where its user can see it.

// Shape, forms and parameters.
SummarySection model_section(const Job& job);

// Where the step of each rank goes, as a table of the page of a run.

// A row per class of ranks, whose parts add up to the last column. Nothing: no rank was recorded.
// At most `most` ranks are shown; a row says how many are left out.
std::optional<SummarySection> rank_section(const Record& record, std::size_t most);

// Jobs side by side as the few lines that a busy person reads.

Answer summarise(const CompanyReport& report);

// What takes the memory of a GPU, and whether it fits.

SummarySection memory_section(const Record& record);

// "with a chance of 12 %: ...", by the calibration's error; empty below 1 %.
std::string may_not_fit_text(const Calibration& calibration, double bytes, double usable_bytes);

// What takes the memory of a GPU, in the order that reports show it in.
std::vector<std::pair<const char*, double>> memory_parts(const GpuMemory& rank);

}  // namespace windtunnel
