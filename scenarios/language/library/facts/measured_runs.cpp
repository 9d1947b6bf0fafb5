#include "scenarios/language/library/facts/measured_runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "models/base/error.hpp"
#include "models/calibration/prediction_error.hpp"
#include "scenarios/language/library/facts/gpu_names.hpp"
#include "scenarios/language/library/facts/training_software.hpp"
#include "scenarios/language/library/library_reader.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {
namespace {

constexpr const char* kHead =
    "# Measured training runs, grouped by family and by the traits that tell how alike two runs\n"
    "# are (models/results/familiarity.hpp). rows: the blind ones, on which no number that\n"
    "# predicts them was fitted; software: what the program is based on in the end; gpu_bits:\n"
    "# the fewest bits that matrix units of the GPU read; errors: |log(predicted / measured)|\n"
    "# of the rows' step times, ascending; of more than 20 rows, 20 that stand for equal parts.\n"
    "# Written by `windtunnel validate runs FILE... --measured measured_runs.yaml`;\n"
    "# docs/results/validation.md has the rows' sources.\n";

int count(const DocumentNode& map, const char* key) {
  return whole(require(map, key), key);
}

// The errors must ascend, and their number must match the rows.
std::vector<double> errors_of(const DocumentNode& map) {
  const DocumentNode& list = require(map, "errors");
  std::vector<double> errors;
  for (const DocumentNode& item : list.items) {
    errors.push_back(quantity(item, Dimension::number, "errors"));
    if (errors.back() < 0) throw Error(item.where, "an error must not be negative");
    if (errors.size() > 1 && errors.back() < errors[errors.size() - 2]) {
      throw Error(item.where, "errors must be in ascending order");
    }
  }
  const int rows = count(map, "rows");
  const int kept = std::min(rows, kMostErrors);
  if (std::ssize(errors) != kept) {
    throw Error(list.where, fmt::format("there are {} errors for {} rows; there must be {}",
                                        errors.size(), rows, kept));
  }
  return errors;
}

}  // namespace

std::vector<MeasuredRuns> read_measured_runs(const DocumentNode& document) {
  std::vector<MeasuredRuns> all;
  for (const DocumentNode& map : document.items) {
    require_map(map, "measured runs");
    check_keys(map, {"family", "gpu", "software", "gpu_bits", "bits", "experts", "adapters",
                     "low_use", "sharded_weights", "context", "gpus", "sequence", "experts_a_rank",
                     "micro_tokens", "rows", "errors"});
    all.push_back({.family = require_text(map, "family"),
                   .traits = {.gpu = require_text(map, "gpu"),
                              .software = require_text(map, "software"),
                              .gpu_bits = count(map, "gpu_bits"),
                              .bits = count(map, "bits"),
                              .experts = flag(map, "experts"),
                              .adapters = flag(map, "adapters"),
                              .low_use = flag(map, "low_use"),
                              .sharded_weights = flag(map, "sharded_weights"),
                              .context = flag(map, "context"),
                              .gpus = count(map, "gpus"),
                              .sequence = count(map, "sequence"),
                              .experts_a_rank = count(map, "experts_a_rank"),
                              .micro_tokens = count(map, "micro_tokens")},
                   .rows = count(map, "rows"),
                   .errors = errors_of(map)});
  }
  return all;
}

const std::vector<MeasuredRuns>& measured_runs() {
  static const std::vector<MeasuredRuns> runs =
      read_measured_runs(library_document("measured_runs.yaml"));
  return runs;
}

std::string measured_runs_text(const std::vector<MeasuredRuns>& runs) {
  std::string text = kHead;
  for (const MeasuredRuns& run : runs) {
    std::vector<std::string> errors;
    for (const double error : run.errors) errors.push_back(fmt::format("{:.3f}", error));
    text += fmt::format(
        "- {{family: \"{}\", gpu: {}, software: {}, gpu_bits: {}, bits: {}, experts: {}, adapters: "
        "{}, low_use: "
        "{}, "
        "sharded_weights: {}, context: {}, gpus: {}, sequence: {}, experts_a_rank: {}, "
        "micro_tokens: {}, rows: {}, errors: [{}]}}\n",
        run.family, run.traits.gpu, run.traits.software, run.traits.gpu_bits, run.traits.bits,
        run.traits.experts, run.traits.adapters, run.traits.low_use, run.traits.sharded_weights,
        run.traits.context, run.traits.gpus, run.traits.sequence, run.traits.experts_a_rank,
        run.traits.micro_tokens, run.rows, fmt::join(errors, ", "));
  }
  return text;
}

const std::string& software_root(const Framework* software) {
  if (software == nullptr) software = &find_framework("megatron");
  while (!software->base.empty()) software = &find_framework(software->base);
  return software->name;
}

StepError step_error(const Job& job, std::string_view software, double hfu_causal,
                     std::string_view without) {
  StepError found{.error = job.calibration.step_error};
  if (job.network || !stands_for_a_gpu(job.calibration.name)) return found;
  found.familiarity = familiarity(traits_of(job, software, hfu_causal), measured_runs(), without);
  const Parameter of_runs = found.familiarity.error();
  const bool assumed = found.error.origin == Origin::assumed;
  found.error = assumed ? larger_error(found.error, of_runs) : of_runs;
  return found;
}

}  // namespace windtunnel
