#include "scenarios/language/library/facts/measured_runs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/document_reader.hpp"

namespace windtunnel {
namespace {

constexpr const char* kHead =
    "# Training runs that predictions were held against, by family and by what decides which "
    "others\n"
    "# tell something of them; rows: blind ones, on which no number that predicts them was "
    "fitted;\n"
    "# model: width and layers; gpu_bits: the fewest that matrix units of the GPU read; deviation: "
    "of\n"
    "# log(predicted / measured) of their steps' times, root mean square\n"
    "# (models/results/familiarity.hpp). Written by `windtunnel validate runs "
    "FILE... --measured measured_runs.yaml`;\n"
    "# docs/results/validation.md has the rows' sources.\n";

int count(const DocumentNode& map, const char* key) {
  return whole(require(map, key), key);
}

std::vector<MeasuredRuns> read_measured_runs(const DocumentNode& document) {
  std::vector<MeasuredRuns> all;
  for (const DocumentNode& map : document.items) {
    require_map(map, "measured runs");
    check_keys(map, {"family", "model", "gpu", "gpu_bits", "bits", "experts", "adapters", "small",
                     "sharded_weights", "context", "gpus", "sequence", "experts_a_rank",
                     "micro_tokens", "rows", "deviation"});
    all.push_back(
        {.family = require_text(map, "family"),
         .model = require_text(map, "model"),
         .traits = {.gpu = require_text(map, "gpu"),
                    .gpu_bits = count(map, "gpu_bits"),
                    .bits = count(map, "bits"),
                    .experts = flag(map, "experts"),
                    .adapters = flag(map, "adapters"),
                    .small = flag(map, "small"),
                    .sharded_weights = flag(map, "sharded_weights"),
                    .context = flag(map, "context"),
                    .gpus = count(map, "gpus"),
                    .sequence = count(map, "sequence"),
                    .experts_a_rank = count(map, "experts_a_rank"),
                    .micro_tokens = count(map, "micro_tokens")},
         .rows = count(map, "rows"),
         .deviation = quantity(require(map, "deviation"), Dimension::number, "deviation")});
  }
  return all;
}

}  // namespace

const std::vector<MeasuredRuns>& measured_runs() {
  static const std::vector<MeasuredRuns> runs =
      read_measured_runs(library_document("measured_runs.yaml"));
  return runs;
}

std::string measured_runs_text(const std::vector<MeasuredRuns>& runs) {
  constexpr double kLeast = 0.001;  // 0 would say that there is none
  std::string text = kHead;
  for (const MeasuredRuns& run : runs) {
    text += fmt::format(
        "- {{family: \"{}\", model: {}, gpu: {}, gpu_bits: {}, bits: {}, experts: {}, adapters: "
        "{}, "
        "small: {}, sharded_weights: {}, context: {}, "
        "gpus: {}, sequence: {}, experts_a_rank: {}, micro_tokens: {}, rows: {}, deviation: "
        "{:.3f}}}\n",
        run.family, run.model, run.traits.gpu, run.traits.gpu_bits, run.traits.bits,
        run.traits.experts, run.traits.adapters, run.traits.small, run.traits.sharded_weights,
        run.traits.context, run.traits.gpus, run.traits.sequence, run.traits.experts_a_rank,
        run.traits.micro_tokens, run.rows, run.rows > 0 ? std::max(run.deviation, kLeast) : 0);
  }
  return text;
}

}  // namespace windtunnel
