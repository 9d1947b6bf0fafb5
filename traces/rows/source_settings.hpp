// Settings that a source states about its runs outside of its tables.
#pragma once

#include "traces/rows/training_runs.hpp"

namespace windtunnel {

// Fills empty cells of the row.
//
// Zero Bubble (arXiv 2401.10241): a SentencePiece tokenizer and untied embeddings
// (github.com/sail-sg/zero-bubble-pipeline-parallelism 064369d6, examples/pretrain_zero_bubble.sh).
// 32,000 pieces agree with the printed sizes: 14.6 B leave 0.13 B for one vocabulary with rows of
// width 5120, and 28.3 B leave 0.2 B for one of width 6144; with 50,257 pieces the sizes would be
// 14.7 and 28.4.
//
// Seq1F1B (arXiv 2406.03488, section 4.1 and its table of settings, from memory): 7 B parameters
// are 32 layers of width 4096 with 32 heads, on tp 8 x pp 4, with micro-batches of one sequence, as
// many as the note says; "-I" has two chunks per rank.
//
// LitGPT (github.com/Lightning-AI/litgpt, tutorials/resource-tables.md): batches of 128 by
// accumulation. Memory is stated for the longest sequences, but times are for shorter, padded ones,
// so rows have no times; "OOM" in a note is the label.
//
// Megatron-Kwai (github.com/kwai/Megatron-Kwai, examples/atc24/README.md): the share alpha of
// activations in host memory; "OOM" in a note is the label.
void fill_from_source_settings(TrainingRun& run);

}  // namespace windtunnel
