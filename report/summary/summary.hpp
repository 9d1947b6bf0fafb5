// This is a short summary of a Record, for the console and the page.
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
// How far predictions may be off: by the calibration's error, or as far as the most similar
// measured runs.
std::string cost_models_text(const Record& record);

// Model, machine, axes of the layout, sharding, schedule, precision, overlap, compressor, batch: a
// phrase each. If one varies between points, the others are still what the points have in common.
std::vector<std::string> job_facts(const Job& job);
// The facts that several jobs share, in one line.
std::string shared_facts(const std::vector<std::vector<std::string>>& jobs);

// The text is "tp 8 x pp 16 x dp 128, ZeRO-1": only axes above 1.
std::string layout_text(const Layout& layout);

// These are the items that an iteration processes: tokens, or samples of a table of layers.
const char* item_noun(const Job& job);
std::string batch_text(const Job& job);  // "2,048 x 8,192 tokens"

// Summary lines about idle time: what fills it, and what waits for samples.

std::vector<SummarySection> idle_sections(const Record& record);

// The model of a run in words, so that the user can see what was simulated.

// These are the shape, kinds of layers and parameters.
SummarySection model_section(const Job& job);

// The uses of each rank's time in a step, as a table of the page of a run.

// A row per class of ranks, whose parts add up to the last column. Nothing if no rank was recorded.
// Shows at most `most` ranks, and a row says how many are omitted.
std::optional<SummarySection> rank_section(const Record& record, std::size_t most);

// This is a short summary of several jobs on one cluster.

Answer summarise(const CompanyReport& report);

// The parts of a GPU's memory, and whether they fit.

SummarySection memory_section(const Record& record);

// The text is "with a chance of 12 % (predicted within ...)", from the calibration's error of
// memory; empty below 1 %.
std::string may_not_fit_text(const Calibration& calibration, double bytes, double usable_bytes);
// Says the same about a record's fullest GPU.
std::string may_not_fit_text(const Record& record);

// The parts of a GPU's memory, in the order in which reports show them.
std::vector<std::pair<const char*, double>> memory_parts(const GpuMemory& rank);

// Explains a trace (Record::timeline) whose end differs from the reported step time: it has several
// iterations, one draw of jitter, or a step without additions.

struct RecordedStep {
  std::string label;     // "draw 3 of 8", for the name of a track
  std::string sentence;  // "it is draw 3 of 8, whose step takes 17.0 s; the mean is 11.1 s"
};

// Both texts are empty if the recorded iteration ends at the step time.
RecordedStep recorded_step(const Record& record);

}  // namespace windtunnel
