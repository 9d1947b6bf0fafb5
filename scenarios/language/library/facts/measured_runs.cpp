#include "scenarios/language/library/facts/measured_runs.hpp"

#include <fmt/format.h>

#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/document_reader.hpp"

namespace windtunnel {
namespace {

constexpr const char* kHead =
    "# Training runs that predictions were held against, by family and by what decides which "
    "others\n"
    "# tell something of them; rows: blind ones, on which no number that predicts them was "
    "fitted;\n"
    "# deviation: of log(predicted / measured) of their steps' times, its 90 %\n"
    "# quantile over 1.645 (models/results/familiarity.hpp). Written by `windtunnel validate runs "
    "FILE... --measured measured_runs.yaml`;\n"
    "# docs/validation.md has the rows' sources.\n";

int count(const DocumentNode& map, const char* key) {
  return whole(require(map, key), key);
}

std::vector<MeasuredRuns> read_measured_runs(const DocumentNode& document) {
  std::vector<MeasuredRuns> all;
  for (const DocumentNode& map : document.items) {
    require_map(map, "measured runs");
    check_keys(map, {"family", "gpu", "bits", "experts", "sharded_weights", "context", "gpus",
                     "sequence", "experts_a_rank", "micro_tokens", "rows", "deviation"});
    all.push_back(
        {.family = require_text(map, "family"),
         .traits = {.gpu = require_text(map, "gpu"),
                    .bits = count(map, "bits"),
                    .experts = flag(map, "experts"),
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
  std::string text = kHead;
  for (const MeasuredRuns& run : runs) {
    text += fmt::format(
        "- {{family: \"{}\", gpu: {}, bits: {}, experts: {}, sharded_weights: {}, context: {}, "
        "gpus: {}, sequence: {}, experts_a_rank: {}, micro_tokens: {}, rows: {}, deviation: "
        "{:.3f}}}\n",
        run.family, run.traits.gpu, run.traits.bits, run.traits.experts, run.traits.sharded_weights,
        run.traits.context, run.traits.gpus, run.traits.sequence, run.traits.experts_a_rank,
        run.traits.micro_tokens, run.rows, run.deviation);
  }
  return text;
}

}  // namespace windtunnel
