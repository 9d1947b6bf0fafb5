// What a source states about its runs elsewhere than in the rows of its tables.
#pragma once

#include "traces/rows/training_runs.hpp"

namespace windtunnel {

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
