// Measured training runs as a table (CSV): model, layout and batch of a job, with the measured step
// time or memory. Columns: kRunFields in training_runs.cpp; an empty cell means "not stated". A
// step time that is not stated follows from tokens_per_s_per_gpu. Other columns are kept for
// filters.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "traces/rows/row_fields.hpp"

namespace windtunnel {

struct TrainingRun {
  std::string id;        // "file:line"
  size_t table_row = 0;  // in RowFile::table
  std::string source, model, gpu_type, recompute, schedule, precision, interconnect, note;
  std::string parameters;  // of the model, as printed: "1.34B"
  std::optional<int> layers, hidden, heads, head_width, kv_heads, ffn_hidden, vocabulary;
  std::optional<int> sequence, global_batch, micro_batch, gpus;
  std::optional<int> tp, pp, vpp, dp, cp, ep;  // dp: gpus / (tp pp cp) if not stated
  std::optional<bool> sequence_parallel;
  std::optional<double> step_s;
  std::optional<double> tflops_per_gpu;
  std::optional<double> memory_gib;  // peak, as printed
  // The power limit of each GPU, if below the data sheet's.
  std::optional<double> power_limit_W;

  // Returns the value of `key` in the note: "1" for zero_stage in "status=OOM; zero_stage=1". Empty
  // if the note lacks the key.
  std::string noted(std::string_view key) const;
};

// The axes of a run's layout, in the order in which they are named. An axis with `always` is named
// even if its size is 1 or not stated.
struct RunAxis {
  std::string_view name;
  std::optional<int> TrainingRun::*size;
  bool always = false;
};
inline constexpr std::array kRunAxes = {
    RunAxis{"tp", &TrainingRun::tp, true}, RunAxis{"pp", &TrainingRun::pp, true},
    RunAxis{"vpp", &TrainingRun::vpp},     RunAxis{"dp", &TrainingRun::dp, true},
    RunAxis{"cp", &TrainingRun::cp},       RunAxis{"ep", &TrainingRun::ep}};

using TrainingRuns = RowFile<TrainingRun>;

// Throws Error only if nothing can be read: no file, no header, a repeated column, a required
// column missing. A faulty row is added to `unusable` with its reason and reading continues: wrong
// cells or numbers, empty cells that nothing else determines, layouts that do not multiply to the
// GPUs, batches that are not a whole number of micro-batches, times that contradict tokens/s.
// docs/reference/rows.md lists all faults.
TrainingRuns read_training_runs(const std::string& path);
TrainingRuns parse_training_runs(std::string_view text, const std::string& file);

// Fills empty cells of the row with settings that its source states outside of its tables.
//
// Zero Bubble (arXiv 2401.10241): a SentencePiece tokenizer and untied embeddings
// (github.com/sail-sg/zero-bubble-pipeline-parallelism 064369d6, examples/pretrain_zero_bubble.sh).
// 32,000 pieces agree with the printed sizes: 14.6 B leave 0.13 B for one vocabulary with rows of
// width 5120, and 28.3 B leave 0.2 B for one of width 6144; with 50,257 pieces the sizes would be
// 14.7 and 28.4.
//
// Seq1F1B (arXiv 2406.03488, section 4.1 and its table of settings, from memory): 7 B parameters
// are 32 layers of width 4096 with 32 heads, on tp 8 x pp 4, with micro-batches of one sequence;
// the note says how many. "-I" has two chunks per rank.
//
// LitGPT (github.com/Lightning-AI/litgpt, tutorials/resource-tables.md): batches of 128 by
// accumulation. Memory is stated for the longest sequences, but times are for shorter, padded ones,
// so rows have no times; "OOM" in a note is the label.
//
// Megatron-Kwai (github.com/kwai/Megatron-Kwai, examples/atc24/README.md): the share alpha of
// activations in host memory; "OOM" in a note is the label.
void fill_from_source_settings(TrainingRun& run);

}  // namespace windtunnel
