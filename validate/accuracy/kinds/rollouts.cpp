// Steps of reinforcement learning, against the loop of a scenario with `rollout`
// (docs/reinforcement-learning.md).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "models/cost/op/op_cost.hpp"
#include "models/results/rollout_report.hpp"
#include "scenarios/language/library/facts/gpu_names.hpp"
#include "scenarios/language/library/library.hpp"
#include "sim/study/simulate.hpp"
#include "validate/accuracy/kinds/kinds.hpp"

namespace windtunnel {
namespace {

struct LoopRow {
  std::string id, source, model, policy, gpu_type, precision, engine, note;
  std::size_t table_row = 0;
  std::optional<int> gpus, engine_gpus, learner_gpus, samples, batch, longest;
  int gen_tp = 1, tp = 1, cp = 1, ep = 1, pp = 1;
  std::optional<double> tokens;  // of a sample with its prompt, on average
  std::optional<double> step_s, generation_s, old_s, reference_s, training_s, transfer_s;
};

constexpr auto kLoopColumns = std::to_array<RowField<LoopRow>>({
    {"source", &LoopRow::source, Needs::cell},
    {"model", &LoopRow::model, Needs::cell},
    {"policy", &LoopRow::policy, Needs::cell},
    {"gpus", &LoopRow::gpus, Needs::column, "", 1e6},
    {"gpu_type", &LoopRow::gpu_type, Needs::cell},
    {"gpus_rollout", &LoopRow::engine_gpus, Needs::column, "", 1e6},
    {"gpus_train", &LoopRow::learner_gpus, Needs::column, "", 1e6},
    {"precision", &LoopRow::precision, Needs::cell},
    {"max_seq", &LoopRow::longest, Needs::column, "tokens", 1e8},
    {"avg_seq", &LoopRow::tokens, Needs::column, "tokens", 1e8},
    {"rollout_samples", &LoopRow::samples, Needs::column, "", 1e6},
    {"train_global_batch", &LoopRow::batch, Needs::column, "", 1e8},
    {"gen_tp", &LoopRow::gen_tp, {}, "", 1e4},
    {"train_tp", &LoopRow::tp, {}, "", 1e4},
    {"train_cp", &LoopRow::cp, {}, "", 1e4},
    {"train_ep", &LoopRow::ep, {}, "", 1e4},
    {"train_pp", &LoopRow::pp, {}, "", 1e4},
    {"engine", &LoopRow::engine},
    {"step_s", &LoopRow::step_s, Needs::column, "s", 1e7},
    {"rollout_s", &LoopRow::generation_s, {}, "s", 1e7},
    {"old_log_prob_s", &LoopRow::old_s, {}, "s", 1e7},
    {"ref_log_prob_s", &LoopRow::reference_s, {}, "s", 1e7},
    {"train_s", &LoopRow::training_s, {}, "s", 1e7},
    {"note", &LoopRow::note},
});

// Names of models, without blanks and signs, that are not those of the library.
constexpr std::pair<std::string_view, std::string_view> kModels[] = {
    {"qwen25math7b", "qwen2.5-7b"},
    {"qwen330b3a", "qwen3-30b-a3b"},
    {"qwen330ba3bbase", "qwen3-30b-a3b"},
    {"qwen3235b", "qwen3-235b-a22b"}};

std::string library_name(const LoopRow& row) {
  const std::string plain = plain_name(row.model);
  for (const auto& [name, known] : kModels) {
    if (plain == name) return std::string(known);
  }
  for (const TransformerSpec& model : library_models()) {
    if (plain_name(model.name) == plain) return model.name;
  }
  throw Error(fmt::format("model '{}' is none of the library", row.model));
}

// Of a log-normal law of this sigma whose samples, cut at `longest`, are `mean` long.
double median_of(double mean, double longest, double sigma) {
  double low = 1;
  double high = 16 * longest;
  for (int i = 0; i < 40; ++i) {
    const double median = std::sqrt(low * high);
    const std::vector<int> lengths = draw_lengths({{}, median, sigma, longest}, 1000, 1);
    const double sum = std::accumulate(lengths.begin(), lengths.end(), 0.0);
    (sum < mean * 1000 ? low : high) = median;
  }
  return low;
}

constexpr int kPrompt = 200;
constexpr double kSigma = 0.8;
// Where a row states no length: about what responses grow from and to during a training (DAPO,
// arXiv 2503.14476, figure 7).
constexpr double kShort = 1000, kLong = 5000;

// What the row leaves open is told by `assumed`.
struct Loop {
  int learners = 0, engines = 0;  // GPUs; no engines: the learner's
  int passes = 1;                 // over a batch, besides the update
  std::vector<std::string> assumed = {};
};

Loop loop_of(const LoopRow& row) {
  if (!row.step_s) throw Error("a transfer of weights alone, between layouts that are not stated");
  if (!row.gpus || !row.samples || !row.batch || !row.longest) {
    throw Error("GPUs, samples, batch or the longest sample are not stated");
  }
  const bool apart = row.engine_gpus || !(contains_text(row.policy, "On policy") ||
                                          contains_text(row.policy, "colocated"));
  Loop loop{.learners = row.learner_gpus.value_or(*row.gpus / (apart ? 2 : 1)),
            .engines = apart ? row.engine_gpus.value_or(*row.gpus / 2) : 0,
            .passes = row.source.starts_with("NeMo RL") || row.reference_s ? 2 : 1};
  if (apart && !row.engine_gpus) loop.assumed.emplace_back("engines have half of the GPUs");
  loop.assumed.emplace_back(
      fmt::format("prompts of {} tokens, outputs log-normal with sigma {}", kPrompt, kSigma));
  if (loop.learners < 1 || (apart && loop.engines < 1)) {
    throw Error("engines and learner need a GPU each");
  }
  if (contains_text(row.engine, "Megatron") && !row.source.starts_with("NeMo RL")) {
    throw Error("the learner's layout is not stated");
  }
  return loop;
}

std::string loop_scenario(const LoopRow& row, const Loop& loop, double tokens) {
  const GpuName& gpu = gpu_named(row.gpu_type, false);
  const std::string model = library_name(row);
  const int layers = find_model(model).layers;
  std::vector<int> stages;
  for (int s = 0; s < row.pp; ++s)
    stages.push_back(layers * (s + 1) / row.pp - layers * s / row.pp);
  const int gpus = std::min(8, loop.learners);
  int responses = 1;  // verl counts prompts
  if (const std::size_t at = row.note.find("prompts x "); at != std::string::npos) {
    responses = std::max(1, std::atoi(row.note.c_str() + at + 10));
  }
  const std::string where =
      loop.engines == 0 ? "colocated: true" : fmt::format("nodes: {}", loop.engines / gpus);
  const bool off = contains_text(row.policy, "1-step");
  const bool free = contains_text(row.policy, "asynchronous");
  return fmt::format(
      "name: loop\nmodel: {{base: {}, sequence: {}}}\ncluster: {{nodes: {}, node: {{base: {}, "
      "gpus: "
      "{}}}}}\nlayout: {{tp: {}, cp: {}, pp: {}, ep: {}, stages: [{}], sharding: {}, "
      "sequence_parallel: {}}}\nbatch: {{global: {}, micro: 1, sequence: {}}}\nprecision: {}\n"
      "recompute: full\nschedule: 1f1b\ncommunication: {{overlap: bucketed}}\ncalibration: {}\n"
      "rollout: {{{}, mode: {}, prompts: {}, samples: 1, prompt_length: {}, output: {{median: {}, "
      "sigma: {}, longest: {}}}, passes: {}, engine: {{tp: {}}}, iterations: 2}}\n",
      model, *row.longest, loop.learners / gpus, gpu.node, gpus, row.tp, row.cp, row.pp, row.ep,
      fmt::join(stages, ", "), contains_text(row.engine, "FSDP") ? "zero3" : "zero1", row.tp > 1,
      *row.batch * responses, *row.longest, row.precision, gpu.calibration, where,
      off    ? "one-step-off"
      : free ? "asynchronous"
             : "synchronous",
      *row.samples, kPrompt, median_of(tokens - kPrompt, *row.longest - kPrompt, kSigma), kSigma,
      *row.longest - kPrompt, loop.passes, row.gen_tp);
}

// 6 N FLOP of a trained token at 40 % of the peak, and 2 N of a written one at 10 %.
double by_tokens_s(const LoopRow& row, double tokens) {
  const NodeSpec& node = find_node(gpu_named(row.gpu_type, false).node);
  const double peak =
      *row.gpus * peak_flops(node.gpu, row.precision == "fp8" ? Precision::fp8 : Precision::bf16);
  const double flops = find_model(library_name(row)).active_parameters() * *row.samples * tokens;
  return flops * (6 / 0.4 + 2 / 0.1) / peak;
}

std::vector<PredictedRow> predict_loop(const LoopRow& row) {
  Loop loop = loop_of(row);
  if (*row.longest < 4 * kPrompt || row.tokens.value_or(*row.longest) <= kPrompt) {
    throw Error(fmt::format("samples that are no longer than a prompt of {} tokens", kPrompt));
  }
  const double middle = row.tokens.value_or(std::sqrt(kShort * kLong));
  std::vector<double> lengths = {middle};
  if (!row.tokens) {
    lengths = {middle, kShort, std::min(kLong, 0.9 * *row.longest)};
    loop.assumed.emplace_back("samples of 1,000 to 5,000 tokens");
  }
  std::vector<RolloutReport> reports;
  for (const double tokens : lengths) {
    const Case the_case = case_of_row(loop_scenario(row, loop, tokens));
    const Record record =
        simulate(the_case, {.threads = 1, .allow_oom = true, .depth = StudyDepth::campaign});
    reports.push_back(*record.studies.find<RolloutReport>());
  }
  std::vector<PredictedRow> results;
  const auto add = [&](const char* metric, double measured, double RolloutReport::*predicted) {
    const auto [low, high] = std::ranges::minmax(reports, {}, predicted);
    ValidationRow result{
        .id = row.id,
        .family = fmt::format("{}, {}", row.source, row.policy),
        .metric = metric,
        .measured = measured,
        .predicted = reports.front().*predicted,
        .low = low.*predicted,
        .high = high.*predicted,
        .baselines = {},
        .label = fmt::format("{}, {} GPUs, {}", row.model, *row.gpus, row.precision),
        .note = row.note};
    if (predicted == &RolloutReport::period_s) {
      result.baselines = {{"tokens at fixed rates", by_tokens_s(row, middle)}};
    }
    results.push_back({std::move(result), loop.assumed});
  };
  add("step_s", *row.step_s, &RolloutReport::period_s);
  if (loop.engines == 0 && row.generation_s && row.training_s) {
    add("generation_s", *row.generation_s, &RolloutReport::generation_s);
    add("training_s", *row.training_s + row.old_s.value_or(0) + row.reference_s.value_or(0),
        &RolloutReport::training_s);
  }
  return results;
}

}  // namespace

MeasuredKind rollout_kind() {
  return {.name = "rollouts",
          .title = "steps of reinforcement learning",
          .help = "steps of reinforcement learning: engines that write samples, and the learner",
          .columns = {"rollout_samples", "train_global_batch", "gen_tp", "step_s"},
          .where = "gpus>32 && policy==\"On policy\"",
          .judge = [](const KindOptions& options) {
            return judge_files<LoopRow>(options, kLoopColumns, predict_loop);
          }};
}

}  // namespace windtunnel
