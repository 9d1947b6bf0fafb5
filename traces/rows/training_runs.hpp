// Measured training runs as a table (CSV): model, layout and batch of a job, with the step time or
// memory that somebody measured. Columns: kRunFields in training_runs.cpp; an empty cell is "not
// stated". A step time that is not stated is that of tokens_per_s_per_gpu. Any other column is
// carried along for filters.
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
  std::optional<int> tp, pp, vpp, dp, cp, ep;  // dp: where not stated, gpus / (tp pp cp)
  std::optional<bool> sequence_parallel;
  std::optional<double> step_s;
  std::optional<double> tflops_per_gpu;
  std::optional<double> memory_gib;  // peak, as printed
  // What each GPU is limited to, where that is less than its data sheet's.
  std::optional<double> power_limit_W;

  // What the note says of `key`: "1" for zero_stage in "status=OOM; zero_stage=1". Empty: nothing.
  std::string noted(std::string_view key) const;
};

// The sizes of a run's layout in the order in which they are named; `always`: also where it is 1 or
// not stated.
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

// Throws Error only where nothing can be read: no file, no header, a column twice, a needed
// column missing. A faulty row goes to `unusable` with its reason and the next one is read: wrong
// cells or numbers, empty cells that nothing else tells, layouts that do not multiply to the GPUs,
// batches that are no whole number of micro-batches, times that contradict tokens/s. All faults:
// docs/reference/rows.md.
TrainingRuns read_training_runs(const std::string& path);
TrainingRuns parse_training_runs(std::string_view text, const std::string& file);

// What a source states about its runs elsewhere than in the rows of its tables.

// Fills cells of the row that are empty.
//
// Zero Bubble (arXiv 2401.10241): a SentencePiece tokenizer and untied embeddings
// (github.com/sail-sg/zero-bubble-pipeline-parallelism 064369d6, examples/pretrain_zero_bubble.sh).
// 32,000 pieces agree with the printed sizes: 14.6 B leave 0.13 B to one vocabulary of 5120 wide
// rows, 28.3 B leave 0.2 B to one of 6144; 50,257 would make them 14.7 and 28.4.
//
// Seq1F1B (arXiv 2406.03488, section 4.1 and its table of settings, as remembered and not read
// again): 7 B parameters are 32 layers of 4096, 32 heads, on tp 8 x pp 4, micro-batches of one
// sequence, as many as the note says; "-I" has two chunks per rank.
//
// LitGPT (github.com/Lightning-AI/litgpt, tutorials/resource-tables.md): batches of 128 by
// accumulation; sequences are as long as the longest where memory is stated and shorter, padded,
// where times are, so that rows have no times; "OOM" in a note is the label.
//
// Megatron-Kwai (github.com/kwai/Megatron-Kwai, examples/atc24/README.md): the share alpha of
// activations that lies in the host's memory; "OOM" in a note is the label.
void fill_from_source_settings(TrainingRun& run);

}  // namespace windtunnel
