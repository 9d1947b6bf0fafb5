#include "traces/rows/training_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "models/base/error.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

// Allowed between a time and a rate, because sources round and average them separately.
constexpr double kRateTolerance = 0.1;

constexpr auto kRunFields = std::to_array<RowField<TrainingRun>>({
    {"source", &TrainingRun::source, Needs::column},
    {"model", &TrainingRun::model, Needs::column},
    {"recompute", &TrainingRun::recompute},
    {"schedule", &TrainingRun::schedule},
    {"precision", &TrainingRun::precision},
    {"params", &TrainingRun::parameters},
    {"interconnect", &TrainingRun::interconnect},
    {"note", &TrainingRun::note},
    {"layers", &TrainingRun::layers, {}, "", 1e5},
    {"hidden", &TrainingRun::hidden, {}, "", 1e7},
    {"heads", &TrainingRun::heads, {}, "", 1e5},
    {"head_width", &TrainingRun::head_width, {}, "", 1e5},
    {"kv_heads", &TrainingRun::kv_heads, {}, "", 1e5},
    {"ffn_hidden", &TrainingRun::ffn_hidden, {}, "", 1e8},
    {"vocab", &TrainingRun::vocabulary, {}, "", 1e8},
    {"seq", &TrainingRun::sequence, Needs::column, "tokens", 1e9},
    {"global_batch", &TrainingRun::global_batch, Needs::column, "sequences", 1e8},
    {"micro_batch", &TrainingRun::micro_batch, {}, "sequences", 1e6},
    {"gpus", &TrainingRun::gpus, Needs::column, "", 1e7},
    {"gpu_type", &TrainingRun::gpu_type, Needs::column},
    {"tp", &TrainingRun::tp, Needs::column, "", 1e5},
    {"pp", &TrainingRun::pp, Needs::column, "", 1e5},
    {"vpp", &TrainingRun::vpp, {}, "", 1e4},
    {"dp", &TrainingRun::dp, {}, "", 1e7},
    {"cp", &TrainingRun::cp, {}, "", 1e5},
    {"ep", &TrainingRun::ep, {}, "", 1e5},
    {"sequence_parallel", &TrainingRun::sequence_parallel},
    {"iter_time_s", &TrainingRun::step_s, Needs::column, "seconds", 1e7},
    {"tflops_per_gpu", &TrainingRun::tflops_per_gpu, {}, "TFLOP/s", 1e6},
    {"mem_gib", &TrainingRun::memory_gib, {}, "GiB", 1e6},
    {"power_limit_w", &TrainingRun::power_limit_W, {}, "watts", 1e5},
});

// Words of the source may supply a count whose cell is empty.
void check_required(const TrainingRun& run, RowReader& reader) {
  for (const RowField<TrainingRun>& field : kRunFields) {
    if (field.needs == Needs::nothing || field.name == "iter_time_s") continue;
    const auto* count = std::get_if<std::optional<int> TrainingRun::*>(&field.member);
    if (!reader.text(field.name).empty() || (count != nullptr && run.**count)) continue;
    reader.fault(field.name, "is empty, and no step can be predicted without it");
  }
}

// The checks below apply only to cells that are stated and valid.

void check_model(const TrainingRun& run, RowReader& reader) {
  if (run.heads && run.hidden && !run.head_width && *run.hidden % *run.heads != 0) {
    reader.fault("heads", fmt::format("{} heads do not divide the hidden size {}, and no "
                                      "head_width is stated",
                                      *run.heads, *run.hidden));
  }
  if (run.heads && run.kv_heads && *run.heads % *run.kv_heads != 0) {
    reader.fault("kv_heads", fmt::format("{} does not divide {} heads", *run.kv_heads, *run.heads));
  }
}

void check_layout(TrainingRun& run, RowReader& reader) {
  if (!run.gpus || !run.tp || !run.pp) return;
  const std::int64_t gpus = *run.gpus;
  const std::int64_t tp = *run.tp;
  const std::int64_t pp = *run.pp;
  const std::int64_t cp = run.cp.value_or(1);
  const std::int64_t model_ranks = std::min<std::int64_t>(tp * pp, gpus + 1) * cp;
  if (!run.dp) {
    if (gpus % model_ranks != 0) {
      reader.fault("gpus", fmt::format("{} GPUs are no multiple of tp {} x pp {} x cp {}", gpus, tp,
                                       pp, cp));
      return;
    }
    run.dp = static_cast<int>(gpus / model_ranks);
  } else if (gpus % model_ranks != 0 || gpus / model_ranks != *run.dp) {
    reader.fault("gpus", fmt::format("{} GPUs do not equal tp {} x pp {} x dp {} x cp {}", gpus, tp,
                                     pp, *run.dp, cp));
    return;
  }
  if (run.ep && gpus / pp % *run.ep != 0) {
    reader.fault("ep", fmt::format("{} expert ranks do not divide the {} ranks of a stage", *run.ep,
                                   gpus / pp));
  }
}

void check_batch(const TrainingRun& run, RowReader& reader) {
  if (!run.global_batch || !run.dp) return;
  const std::int64_t dp = *run.dp;
  const std::int64_t together = run.micro_batch.value_or(1) * dp;
  if (*run.global_batch % together == 0) return;
  if (run.micro_batch) {
    reader.fault(
        "global_batch",
        fmt::format("{} sequences do not make whole micro-batches of {} on each of {} dp ranks",
                    *run.global_batch, *run.micro_batch, dp));
  } else {
    reader.fault("global_batch", fmt::format("{} sequences cannot be divided among {} dp ranks",
                                             *run.global_batch, dp));
  }
}

// `rate_per_gpu` counts `per_sequence` items for each sequence.
void check_rate(const TrainingRun& run, std::string_view column, std::optional<double> rate_per_gpu,
                std::optional<int> per_sequence, RowReader& reader) {
  if (!rate_per_gpu || !per_sequence || !run.step_s || !run.global_batch || !run.gpus) return;
  const double sequences = *run.global_batch;
  const double implied_s = sequences * *per_sequence / (*rate_per_gpu * *run.gpus);
  if (std::abs(implied_s / *run.step_s - 1) <= kRateTolerance) return;
  reader.fault("iter_time_s", fmt::format("{:g} s contradicts column '{}', which implies {:.4g} s",
                                          *run.step_s, column, implied_s));
}

void check_times(TrainingRun& run, RowReader& reader) {
  if (reader.text("iter_time_is").find("lengths unknown") != std::string_view::npos) {
    reader.fault("iter_time_is", "no step can be predicted without its sequences' lengths");
  }
  reader.number({"mfu", "a share, not per cent", 1});
  const std::optional<double> tokens_per_s =
      reader.number({"tokens_per_s_per_gpu", "tokens/s", 1e12});
  if (!run.step_s && tokens_per_s && run.sequence && run.global_batch && run.gpus) {
    run.step_s = double(*run.global_batch) * *run.sequence / (*tokens_per_s * *run.gpus);
  }
  check_rate(run, "tokens_per_s_per_gpu", tokens_per_s, run.sequence, reader);
  check_rate(run, "samples_per_s_per_gpu",
             reader.number({"samples_per_s_per_gpu", "sequences/s", 1e12}), 1, reader);
  if (run.noted("status") == "OOM" && run.step_s) {
    reader.fault("iter_time_s",
                 "contains a time, but the note says that the run was out of memory");
  }
}

void check_run(TrainingRun& run, RowReader& reader) {
  fill_from_source_settings(run);
  check_required(run, reader);
  check_model(run, reader);
  check_layout(run, reader);
  check_batch(run, reader);
  check_times(run, reader);
}

void fill(std::optional<int>& cell, int value) {
  if (!cell) cell = value;
}

// Finds the number before `noun`, such as 8 in "8 microbatches; ..."; nothing if there is none.
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

// The README has "activation offload fraction alpha 0.3", or "OOM" instead of a figure.
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

std::string TrainingRun::noted(std::string_view key) const {
  std::string_view rest = note;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    const size_t equals = entry.find('=');
    if (equals != std::string_view::npos && trimmed(entry.substr(0, equals)) == key) {
      return std::string(trimmed(entry.substr(equals + 1)));
    }
  }
  return {};
}

TrainingRuns parse_training_runs(std::string_view text, const std::string& file) {
  return parse_fields<TrainingRun>(text, file, kRunFields, check_run);
}

TrainingRuns read_training_runs(const std::string& path) {
  return parse_training_runs(read_file(path), path);
}

void fill_from_source_settings(TrainingRun& run) {
  if (contains_text(run.source, "Zero Bubble")) fill(run.vocabulary, 32000);
  if (contains_text(run.source, "LitGPT")) fill_litgpt(run);
  if (contains_text(run.source, "Megatron-Kwai")) fill_megatron_kwai(run);
  if (contains_text(run.source, "Seq1F1B") && run.parameters == "7B") fill_seq1f1b(run);
}

}  // namespace windtunnel
