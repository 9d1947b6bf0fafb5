#include "traces/rows/source_settings.hpp"

#include <charconv>
#include <string_view>

#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

void fill(std::optional<int>& cell, int value) {
  if (!cell) cell = value;
}

// The number before `noun`: 8 in "8 microbatches; ..."; nothing if it is not there.
std::optional<int> number_before(std::string_view text, std::string_view noun) {
  size_t at = text.find(noun);
  if (at == std::string_view::npos) return std::nullopt;
  while (at > 0 && text[at - 1] == ' ') --at;
  size_t first = at;
  while (first > 0 && text[first - 1] >= '0' && text[first - 1] <= '9') --first;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data() + first, text.data() + at, number);
  if (error != std::errc() || end != text.data() + at) return std::nullopt;
  return number;
}

void fill_seq1f1b(TrainingRun& run) {
  fill(run.layers, 32);
  fill(run.hidden, 4096);
  fill(run.heads, 32);
  fill(run.tp, 8);
  fill(run.pp, 4);
  fill(run.vpp, run.schedule.ends_with("-I") ? 2 : 1);
  fill(run.micro_batch, 1);
  if (const auto count = number_before(run.note, "microbatches")) fill(run.global_batch, *count);
  if (!run.sequence_parallel) run.sequence_parallel = true;
}

// finetune/lora.py: batches of 128 by accumulation. Times are for micro-batches whose sequences are
// mostly shorter than the longest one; memory is for the longest.
void fill_litgpt(TrainingRun& run) {
  if (contains_text(run.note, "batch 128 by accumulation")) fill(run.global_batch, 128);
  if (contains_text(run.note, "OOM")) run.note += "; status=OOM";
  if (run.memory_gib) run.note += "; status=Success";
  run.step_s.reset();
}

// examples/atc24/README.md: "activation offload fraction alpha 0.3", or "OOM" instead of a figure.
void fill_megatron_kwai(TrainingRun& run) {
  constexpr std::string_view kShare = "offload fraction alpha ";
  const size_t at = run.note.find(kShare);
  if (at == std::string::npos) return;
  const size_t first = at + kShare.size();
  const size_t last = std::min(run.note.find_first_not_of("0123456789.", first), run.note.size());
  const std::string share = run.note.substr(first, last - first);
  run.note += "; offload_share=" + share;
  if (contains_text(run.note, "OOM")) run.note += "; status=OOM";
  if (run.memory_gib) run.note += "; status=Success";
}

}  // namespace

void fill_from_source_settings(TrainingRun& run) {
  if (contains_text(run.source, "Zero Bubble")) fill(run.vocabulary, 32000);
  if (contains_text(run.source, "LitGPT")) fill_litgpt(run);
  if (contains_text(run.source, "Megatron-Kwai")) fill_megatron_kwai(run);
  if (contains_text(run.source, "Seq1F1B") && run.parameters == "7B") fill_seq1f1b(run);
}

}  // namespace windtunnel
