// Compares steps of reinforcement learning with the loop of a scenario with `rollout`
// (docs/physics/reinforcement-learning.md); docs/reference/rows.md explains how a row becomes a
// scenario.
#include <cmath>

#include "models/cost/op/op_cost.hpp"
#include "models/results/rollout_report.hpp"
#include "models/workload/law_of_lengths.hpp"
#include "validate/accuracy/kinds/kinds.hpp"

namespace windtunnel {
namespace {

struct LoopRow {
  std::string id, source, algorithm, model, policy, gpu_type, precision, engine, note;
  std::size_t table_row = 0;
  // These are read from the policy: the number in "8-step Off" (0: none), and both layouts of a
  // transfer alone such as "EP8 PP2 to TP8 DP2" (empty: it is a loop).
  int steps_off = 0;
  std::string learner_layout, engine_layout;
  // 0: not stated
  int gpus = 0, engine_gpus = 0, learner_gpus = 0, samples = 0, batch = 0, longest = 0;
  double step_s = 0, generation_s = 0, old_s = 0, reference_s = 0, training_s = 0, transfer_s = 0;
  std::optional<int> responses, passes, gen_tp, tp, cp, ep, pp;
  std::optional<double> tokens;  // mean per sample, with its prompt
};

void read_policy(LoopRow& row, RowReader& reader) {
  constexpr std::string_view kBetween = " to ";
  row.policy = reader.text("policy");
  row.steps_off = std::atoi(row.policy.c_str());
  const std::size_t at = row.policy.find(kBetween);
  if (at == std::string::npos) return;
  row.learner_layout = row.policy.substr(0, at);
  row.engine_layout = row.policy.substr(at + kBetween.size());
}

constexpr auto kLoopColumns = std::to_array<RowField<LoopRow>>({
    {"source", &LoopRow::source, Needs::cell},
    {"algorithm", &LoopRow::algorithm},
    {"model", &LoopRow::model, Needs::cell},
    {"policy", read_policy, Needs::cell},
    {"gpus", &LoopRow::gpus, Needs::column, "", 1e6},
    {"gpu_type", &LoopRow::gpu_type, Needs::cell},
    {"gpus_rollout", &LoopRow::engine_gpus, {}, "", 1e6},
    {"gpus_train", &LoopRow::learner_gpus, {}, "", 1e6},
    {"precision", &LoopRow::precision, Needs::cell},
    {"max_seq", &LoopRow::longest, Needs::column, "tokens", 1e8},
    {"avg_seq", &LoopRow::tokens, Needs::column, "tokens", 1e8},
    {"rollout_samples", &LoopRow::samples, Needs::column, "", 1e6},
    {"train_global_batch", &LoopRow::batch, Needs::column, "", 1e6},
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
    {"weight_sync_s", &LoopRow::transfer_s, {}, "s", 1e7},
    {"batch_responses", &LoopRow::responses, {}, "per sample that the batch counts", 1e3},
    {"log_prob_passes", &LoopRow::passes, {}, "", 10},
    {"note", &LoopRow::note},
});

// Assumptions, because no source states them: prompts of mathematics problems, and a spread of
// lengths between the 0.7 and 1 of docs/physics/reinforcement-learning.md.
constexpr int kPrompt = 200;
constexpr double kSigma = 0.8;
// A row that states no length gets this range, over which responses grow in training (DAPO, arXiv
// 2503.14476, figure 7).
constexpr double kShort = 1000, kLong = 5000;

bool has_engines_apart(const LoopRow& row) {
  return row.engine_gpus > 0 || contains_text(row.policy, "Off") ||
         contains_text(row.policy, "asynchronous");
}

bool is_of_nemo(const LoopRow& row) {
  return contains_text(row.source, "NeMo RL");
}
bool is_of_verl(const LoopRow& row) {
  return contains_text(row.source, "verl");
}

// Returns the forward passes for log-probabilities that the row counts or times. NeMo RL computes
// log-probabilities of the old policy and of the reference policy (nemo_rl/algorithms/grpo.py,
// 9dbd9adc). Asynchronous engines of verl return them with the samples (use_rollout_log_probs of
// its scripts).
int passes_of(const LoopRow& row) {
  if (row.passes) return *row.passes;
  if (is_of_nemo(row)) return 2;
  if (is_of_verl(row) && contains_text(row.policy, "asynchronous")) return 0;
  const int timed = (row.old_s > 0 ? 1 : 0) + (row.reference_s > 0 ? 1 : 0);
  return std::max(1, timed);
}

// verl counts prompts in a batch: a note says "512 prompts x 16 responses".
int responses_of(const LoopRow& row) {
  if (row.responses) return *row.responses;
  const std::size_t at = row.note.find("prompts x ");
  return at == std::string::npos ? 1 : std::max(1, std::atoi(row.note.c_str() + at + 10));
}

// This is rollout.engine.host_step for engines that return log-probabilities of generated tokens.
const Parameter& log_prob_step_s() {
  static const Parameter step_s = {
      7.5e-3,
      6.6e-3,
      10e-3,
      Origin::published,
      "fitted, with Calibration::rollout_update unchanged, on the two on-policy steps of dense "
      "models in bf16 by NeMo RL v0.5 (github.com/NVIDIA-NeMo/RL 9dbd9adc, "
      "docs/about/performance-summary.md); each alone would need one end of the range",
      {{"rl_steps_2026.csv",
        "source~'NeMo RL v0.5' && policy~'On policy' && precision=='bf16' && "
        "(model=='LLAMA3.1_8B' || model=='Qwen3-32B')"}}};
  return step_s;
}

std::vector<FittedOn> rows_fitted_on() {
  std::vector<FittedOn> rows;
  const Calibration usual;
  for (const Parameter* number :
       {&log_prob_step_s(), &usual.rollout_update, &usual.gathered_tensor_s}) {
    rows.insert(rows.end(), number->fitted_on.begin(), number->fitted_on.end());
  }
  return rows;
}

// Settings that a source's recipes state and its table does not.
struct LoopRecipe {
  int gen_tp = 1, tp = 1, cp = 1, pp = 1, ep = 1;
  bool layout = false;  // tp to ep are stated
  const char* recompute = "full";
  double memory = 0.9;  // share of a GPU's memory that engines may use
  int sequences = 256;  // that an engine decodes at once, at most
  double host_step_ms = 1;
  bool cuda_graphs = true;
  const char* precision = "bf16";  // of engines
  int written = 1;                 // samples that engines write for each that is learned from
  const char* weights = "gather";
  std::string asynchrony = "staleness: 1, ";
};

// These are from github.com/volcengine/verl, b178a3cd, verl/experimental: the scripts
// dapo_7b_math_fsdp2_* and grpo_30b_a3b_base_math_megatron_96_32 of fully_async_policy/shell,
// colocated engines by one_step_off_policy/shell/dapo_7b_math_fsdp2_colocate; max_num_seqs from
// verl/trainer/config/rollout/rollout.yaml.
LoopRecipe recipe_of_verl(const LoopRow& row, bool apart) {
  LoopRecipe recipe = {.gen_tp = apart ? 4 : 2, .memory = 0.8, .sequences = 1024};
  if (contains_text(row.model, "Qwen3-30B-A3B")) {
    recipe = {.gen_tp = 4,
              .tp = 2,
              .cp = 2,
              .ep = 8,
              .layout = true,
              .memory = 0.7,
              .sequences = 1024,
              .cuda_graphs = false};
  }
  return recipe;
}

// These are from github.com/NVIDIA-NeMo/RL, 9dbd9adc, examples/configs: activation_checkpointing,
// gpu_memory_utilization, in_flight_weight_updates, max_trajectory_age_steps, enforce_eager and
// batch_multiplier; fp8 recipes set the precision of engines, too. Weights:
// nemo_rl/utils/packed_tensor.py.
LoopRecipe recipe_of_nemo(const LoopRow& row, bool apart) {
  LoopRecipe recipe;
  const bool keeps = contains_text(row.model, "Qwen3-30B") || contains_text(row.model, "Qwen3-32B");
  if (keeps) recipe.recompute = "none";
  recipe.memory = apart ? 0.8 : 0.6;
  recipe.host_step_ms = 1e3 * log_prob_step_s().value;
  if (contains_text(row.algorithm, "DAPO")) {  // use_dynamic_sampling drops two thirds
    recipe.cuda_graphs = false;
    recipe.written = 3;
  }
  if (row.precision != "bf16") recipe.precision = row.precision.c_str();
  if (apart) recipe.weights = row.engine_layout.empty() ? "packed" : "reshard";
  recipe.asynchrony = fmt::format("staleness: {}, keep_cache: true, ", std::max(1, row.steps_off));
  return recipe;
}

LoopRecipe recipe_of(const LoopRow& row, bool apart) {
  if (is_of_nemo(row)) return recipe_of_nemo(row, apart);
  LoopRecipe recipe = is_of_verl(row) ? recipe_of_verl(row, apart) : LoopRecipe{};
  if (contains_text(row.policy, "staleness 0") && !contains_text(row.policy, "staleness 0.")) {
    recipe.asynchrony = "staleness: 0, ";
  }
  return recipe;
}

std::string law_text(const LengthDistribution& law) {
  return fmt::format("{{median: {}, sigma: {}, longest: {}}}", law.median, law.sigma, law.longest);
}

const char* mode_of(const LoopRow& row, bool apart) {
  if (!apart) return "synchronous";
  const bool drains = contains_text(row.policy, "1-step") && !is_of_nemo(row);
  return drains ? "one-step-off" : "asynchronous";
}

// Learner and engines have separate hosts, which have at most eight GPUs and at most those of the
// learner. A larger node is a rack, and both get equally large parts of it.
int node_gpus_of(const NodeSpec& node, int learners, int engines) {
  constexpr int kHost = 8;
  if (node.gpus <= kHost) return std::min(learners, node.gpus);
  int gpus = std::min({learners, engines, node.gpus});
  while (learners % gpus != 0 || engines % gpus != 0) --gpus;
  return gpus;
}

RolloutReport loop_of(const LoopRow& row, double tokens, int passes) {
  const bool apart = has_engines_apart(row);
  const auto or_half = [&](int stated) {
    return stated > 0 ? stated : apart ? divide_gpus(row.gpus, 2) : row.gpus;
  };
  const int learners = or_half(row.learner_gpus);
  const int engines = apart ? or_half(row.engine_gpus) : learners;
  const GpuName& gpu = gpu_named(row.gpu_type, false);
  const NodeSpec& node = find_node(gpu.node);
  const int node_gpus = node_gpus_of(node, learners, engines);
  const LengthDistribution output =
      lengths_of_mean(tokens - kPrompt, row.longest - kPrompt, kSigma);
  const LengthDistribution packed = lengths_of_mean(tokens, row.longest, kSigma);
  const LoopRecipe recipe = recipe_of(row, apart);
  const std::string mode = mode_of(row, apart);
  const int tp = row.tp.value_or(recipe.tp), pp = row.pp.value_or(recipe.pp);
  const bool fsdp =
      contains_text(row.engine, "FSDP");  // FSDP's ranks get equal shares of the tokens
  const std::string text = fmt::format(
      R"(name: loop
model: {{base: {}, sequence: {}}}
cluster: {{nodes: {}, node: {{base: {}, gpus: {}, nics: {}}}}}
layout: {{tp: {}, cp: {}, pp: {}, ep: {}, {}sharding: {}, sequence_parallel: {}{}}}
batch: {{global: {}, micro: 1, sequence: {}, lengths: {}}}
precision: {}
recompute: {}
schedule: 1f1b
communication: {{overlap: bucketed}}
calibration: {}
rollout: {{{}, mode: {}, {}weights: {}, prompts: {}, prompt_length: {}, epochs: {},
  passes: {},
  engine: {{tp: {}, memory: {}, sequences: {}, host_step: {} ms, cuda_graphs: {}, precision: {}}},
  output: {}, iterations: 2}}
)",
      model_named(row.model).name, row.longest, divide_gpus(learners, node_gpus), gpu.node,
      node_gpus, std::max(1, node.nics * node_gpus / node.gpus), tp, row.cp.value_or(recipe.cp), pp,
      row.ep.value_or(recipe.ep), pp > 1 ? "stages: {balance: auto}, " : "",
      fsdp ? "zero3" : "zero1", tp > 1, fsdp ? ", length_policy: hdp" : "",
      row.batch * responses_of(row), row.longest, law_text(packed), row.precision, recipe.recompute,
      gpu.calibration,
      apart ? fmt::format("nodes: {}", divide_gpus(engines, node_gpus)) : "colocated: true", mode,
      mode == "asynchronous" ? recipe.asynchrony : "", recipe.weights, row.samples * recipe.written,
      kPrompt, 1.0 / recipe.written, passes / double(recipe.written),
      row.gen_tp.value_or(recipe.gen_tp), recipe.memory, recipe.sequences, recipe.host_step_ms,
      recipe.cuda_graphs, recipe.precision, law_text(output));
  return *simulate_row(text).studies.find<RolloutReport>();
}

// Finds the tokens per sample for which the update takes the row's training_s. That time is then
// fitted rather than judged; the row's step_s, which includes the update, is judged with a note on
// the source of its lengths.
double tokens_told(const LoopRow& row) {
  const double start = std::sqrt(kShort * kLong);
  double tokens = start;
  // Attention makes the time grow slightly faster than the tokens.
  for (int i = 0; i < 2; ++i) {
    tokens *= row.training_s / loop_of(row, tokens, 0).training_s;
    tokens = std::clamp<double>(tokens, kPrompt + 2, row.longest);
  }
  return tokens;
}

void check_is_stated(const LoopRow& row) {
  if (row.step_s == 0 && row.transfer_s > 0) {
    throw Error("only a transfer of weights, between layouts that are not stated");
  }
  if (row.step_s == 0) throw Error("the time of a step is not stated");
  for (const int stated : {row.gpus, row.samples, row.batch, row.longest}) {
    if (stated == 0) throw Error("GPUs, samples, batch or the longest sample are not stated");
  }
  const bool layout = (row.tp && row.pp && row.ep) || recipe_of(row, false).layout;
  if (contains_text(row.engine, "Megatron") && !layout) {
    throw Error("the learner's layout is not stated");
  }
}

// Reads 8 of "EP8 PP2" for "EP"; 1 if it is not there.
int size_in(const std::string& layout, const char* axis) {
  const std::size_t at = layout.find(axis);
  return at == std::string::npos ? 1 : std::max(1, std::atoi(layout.c_str() + at + 2));
}
int gpus_in(const std::string& layout) {
  return size_in(layout, "DP") * size_in(layout, "PP") *
         std::max(size_in(layout, "TP"), size_in(layout, "EP"));
}

// Predicts a transfer alone, between stated layouts.
std::vector<PredictedRow> predict_transfer(LoopRow row) {
  if (row.precision != "bf16") throw Error("how weights with scales are converted is not modelled");
  row.learner_gpus = row.samples = row.batch = gpus_in(row.learner_layout);
  row.engine_gpus = gpus_in(row.engine_layout);
  row.tp = size_in(row.learner_layout, "TP");
  row.pp = size_in(row.learner_layout, "PP");
  row.ep = size_in(row.learner_layout, "EP");
  row.gen_tp = size_in(row.engine_layout, "TP");
  row.longest = 4096;  // neither lengths nor batch matter to a transfer
  const WeightTransfer transfer = loop_of(row, row.longest / 2.0, 0).transfer;
  PredictedRow figure = figure_of(row, row.source, "transfer_s", row.transfer_s, transfer.seconds,
                                  fmt::format("{}, {}", row.model, row.policy));
  const NodeSpec& node = find_node(gpu_named(row.gpu_type, false).node);
  const double rule_Bps = *row.gen_tp * node.nic_Bps.value * node.nics / node.gpus;
  figure.row.baselines = {{"bytes / specified bandwidth", transfer.model_bytes / rule_Bps}};
  return {figure};
}

std::vector<PredictedRow> predict_loop(const LoopRow& row) {
  if (row.step_s == 0 && row.transfer_s > 0 && !row.engine_layout.empty()) {
    return predict_transfer(row);
  }
  check_is_stated(row);
  std::vector<std::string> assumed = {fmt::format(
      "prompts of {} tokens; log-normal outputs with a sigma of at most {}", kPrompt, kSigma)};
  if (has_engines_apart(row) && row.engine_gpus == 0) {
    assumed.emplace_back("engines have half of the GPUs");
  }
  const bool told = !row.tokens && row.training_s > 0;
  const bool unknown = !row.tokens && !told;
  if (told) {
    assumed.emplace_back(
        "length of samples derived from train_s, so that only the step without its update is "
        "predicted");
  }
  const double most = std::min(kLong, 0.9 * row.longest), least = std::min(kShort, most / 2);
  if (unknown) assumed.push_back(fmt::format("samples of {:.0f} to {:.0f} tokens", least, most));
  const double tokens = row.tokens ? *row.tokens
                        : told     ? tokens_told(row)
                                   : std::sqrt(least * most);
  const int passes = passes_of(row);
  const RolloutReport middle = loop_of(row, tokens, passes);
  const RolloutReport low = unknown ? loop_of(row, least, passes) : middle;
  const RolloutReport high = unknown ? loop_of(row, most, passes) : middle;
  // 6 N FLOP per trained token at 40 % of the peak, and 2 N per generated token at 10 %.
  const double peak = peak_flops(find_node(gpu_named(row.gpu_type, false).node).gpu,
                                 row.precision == "fp8" ? Precision::fp8 : Precision::bf16);
  const double rule_s = model_named(row.model).active_parameters() * row.samples * tokens *
                        (6 / 0.4 + 2 / 0.1) / (row.gpus * peak);
  const char* form = model_named(row.model).moe.experts > 0 ? "experts" : "dense";
  const std::string family = fmt::format("{}, {}, {}", row.source, row.policy, form);
  const std::string label = fmt::format("{}, {} GPUs, {}", row.model, row.gpus, row.precision);
  std::vector<PredictedRow> figures;
  const auto add = [&](const char* metric, double measured, double RolloutReport::*part) {
    if (measured == 0) return;
    figures.push_back(figure_of(row, family, metric, measured, middle.*part, label));
    figures.back().row.low = std::min(low.*part, high.*part);
    figures.back().row.high = std::max(low.*part, high.*part);
    figures.back().assumed = assumed;
  };
  add("step_s", row.step_s, &RolloutReport::period_s);
  figures.back().row.baselines = {{"tokens at constant rates", rule_s}};
  // With separate engines these phases are only the trainer's waits.
  if (has_engines_apart(row)) return figures;
  add("generation_s", row.generation_s, &RolloutReport::generation_s);
  add("training_s", row.training_s == 0 ? 0 : row.training_s + row.old_s + row.reference_s,
      &RolloutReport::training_s);
  figures.back().fitted |= told;
  return figures;
}

}  // namespace

MeasuredKind rollout_kind() {
  return {"rollouts",
          "steps of reinforcement learning",
          "compare steps of reinforcement learning: engines that generate samples, and the learner",
          {"rollout_samples", "train_global_batch", "gen_tp", "step_s"},
          "policy==\"On policy\"",
          [](const KindOptions& options) {
            return judge_files<LoopRow>(options, kLoopColumns, predict_loop, rows_fitted_on());
          }};
}

}  // namespace windtunnel
