#include "scenarios/language/library/measured_runs.hpp"

#include <fmt/format.h>

#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/document_reader.hpp"

namespace windtunnel {
namespace {

constexpr const char* kHead =
    "# Training runs that predictions were held against, by family and by what decides which others\n"
    "# tell something of them (models/results/familiarity.hpp); rms: of log(predicted / measured) of\n"
    "# a step's time. Written by `windtunnel validate runs FILE... --measured measured_runs.yaml`;\n"
    "# docs/validation.md has the rows' sources.\n";

int whole(const DocumentNode& map, const char* key) {
  return static_cast<int>(quantity(require(map, key), Dimension::number, key));
}

bool flag(const DocumentNode& map, const char* key) {
  return whole(map, key) != 0;
}

std::vector<MeasuredRuns> read_measured_runs(const DocumentNode& document) {
  std::vector<MeasuredRuns> all;
  for (const DocumentNode& map : document.items) {
    require_map(map, "measured runs");
    check_keys(map, {"family", "gpu", "bits", "experts", "sharded_weights", "context", "gpus",
                     "sequence", "rows", "rms"});
    all.push_back({.family = require_text(map, "family"),
                   .traits = {.gpu = require_text(map, "gpu"),
                              .bits = whole(map, "bits"),
                              .experts = flag(map, "experts"),
                              .sharded_weights = flag(map, "sharded_weights"),
                              .context = flag(map, "context"),
                              .gpus = whole(map, "gpus"),
                              .sequence = whole(map, "sequence")},
                   .rows = whole(map, "rows"),
                   .rms = quantity(require(map, "rms"), Dimension::number, "rms")});
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
        "- {{family: \"{}\", gpu: {}, bits: {}, experts: {:d}, sharded_weights: {:d}, context: {:d}, "
        "gpus: {}, sequence: {}, rows: {}, rms: {:.3f}}}\n",
        run.family, run.traits.gpu, run.traits.bits, run.traits.experts, run.traits.sharded_weights,
        run.traits.context, run.traits.gpus, run.traits.sequence, run.rows, run.rms);
  }
  return text;
}

}  // namespace windtunnel
