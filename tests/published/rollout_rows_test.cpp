// Compares reinforcement learning with measurements of others: the time of an iteration whose
// samples are generated on the same GPUs in turn, and on separate GPUs concurrently with the
// updates.
//
// The sources do not state the lengths of samples. The median of verl's lengths was chosen by the
// update time of its first row, and no other number was used; its spread, and all of AReaL's
// lengths, are assumed and not fitted (docs/physics/reinforcement-learning.md).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "models/results/rollout_report.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/rollout/rollout_loop.hpp"
#include "sim/study/simulate.hpp"
#include "traces/text/csv.hpp"

namespace windtunnel {
namespace {

struct Row {
  std::string system, model, mode;
  int learner_gpus = 0;
  int engine_gpus = 0;
  double step_s = 0;
  std::optional<double> generation_s, training_s;
};

std::vector<Row> rows() {
  const CsvTable table =
      CsvTable::read(std::string(WINDTUNNEL_SOURCE_DIR) + "/tests/data/rollout_runs.csv");
  std::vector<Row> all;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto text = [&](const char* column) { return table.text(row, table.column(column)); };
    const auto number = [&](const char* column) -> std::optional<double> {
      if (text(column).empty()) return std::nullopt;
      return table.number(row, table.column(column));
    };
    all.push_back({text("system"), text("model"), text("mode"),
                   table.integer(row, table.column("learner_gpus")),
                   table.integer(row, table.column("engine_gpus")), *number("step_s"),
                   number("generation_s"), number("training_s")});
  }
  return all;
}

// The inputs are the measured times of generation and updates, so that only the law of the
// one-step-off loop is predicted.
TEST(RolloutRows, OneStepOffIsTheLongerOfTheTwo) {
  int compared = 0;
  for (const Row& row : rows()) {
    if (row.mode != "one-step-off") continue;
    LoopInputs inputs;
    inputs.spec.mode = RolloutMode::one_step_off;
    inputs.spec.output = {.median = 1001, .sigma = 0, .longest = 1001};
    inputs.engines = {{{.base_s = {0, *row.generation_s / 1000}, .capacity = 1e6}, 1}};
    inputs.token_s = *row.training_s / 1002;
    inputs.transfer_s = 0.3;  // published: "under 300ms" most of the time
    const double ours = run_loop(inputs).period_s;
    std::printf("%-14s one step off: published %.0f s, by its phases %.0f s (%+.0f %%)\n",
                row.system.c_str(), row.step_s, ours, 100 * (ours / row.step_s - 1));
    // The table does not list what else a step does.
    EXPECT_GT(ours, 0.85 * row.step_s);
    EXPECT_LE(ours, row.step_s);
    ++compared;
  }
  EXPECT_EQ(compared, 2);
}

struct System {
  std::string model, node, law;
  int prompt = 0;
  std::string engines = "{tp: 1}";
  double passes_colocated = 0;
  int longest = 0;
  int staleness = 1;
};

// Models have the sizes of their configurations. An H20 has 148 TFLOP/s in bf16 and 96 GB at 4.0
// TB/s; an H800 is an H100 with 200 GB/s of NVLink per direction. Both systems use 512 prompts of
// 16 samples.
System system_of(const Row& row) {
  const std::string qwen7 =
      "{layers: 28, hidden: 3584, heads: 28, kv_heads: 4, ffn: 18944, vocabulary: 152064, "
      "sequence: 32768, activation: swiglu, normalisation: rms-norm, position: rotary, biases: "
      "false, tied_embeddings: false}";
  const std::string qwen1 =
      "{layers: 28, hidden: 1536, heads: 12, kv_heads: 2, ffn: 8960, vocabulary: 151936, sequence: "
      "32768, activation: swiglu, normalisation: rms-norm, position: rotary, biases: false, "
      "tied_embeddings: true}";
  if (row.system == "verl") {
    return {.model = qwen7,
            .node = "dgx-h100",
            .law = "median: 675, sigma: 1",
            .prompt = 128,
            .passes_colocated = 1,
            .longest = 30720,
            .staleness = 1};
  }
  return {.model = row.model == "r1-distill-qwen-1.5b" ? qwen1 : qwen7,
          .node = "{base: dgx-h100, nvlink: 200 GB/s}",
          .law = "median: 6000, sigma: 0.7",
          .prompt = 512,
          .passes_colocated = 1,
          .longest = 28672,
          .staleness = 4};
}

Record simulated(const Row& row) {
  const System system = system_of(row);
  const bool colocated = row.mode == "colocated";
  const std::string pools = colocated ? "colocated: true"
                                      : fmt::format("nodes: {}, mode: asynchronous, staleness: {}",
                                                    row.engine_gpus / 8, system.staleness);
  const std::string text = fmt::format(
      "name: rows\nmodel: {}\ncluster: {{nodes: {}, node: {}}}\nlayout: {{tp: 1, sharding: "
      "zero3}}\nbatch: {{global: 7680, micro: 1, sequence: {}, lengths: {{{}, longest: {}}}}}\n"
      "recompute: full\nsoftware: "
      "{{fused_loss: true}}\ncommunication: {{overlap: bucketed}}\ncalibration: h100-published\n"
      "rollout: {{{}, prompts: 512, samples: 16, prompt_length: {}, output: {{{}, longest: {}}}, "
      "engine: {}, "
      "passes: {}, iterations: 2}}\n",
      system.model, row.learner_gpus / 8, system.node, system.longest, system.law, system.longest,
      pools, system.prompt, system.law, system.longest - system.prompt, system.engines,
      colocated ? system.passes_colocated : 0);
  Case the_case = parse_case(text, "rows.yaml");
  if (row.system == "verl") {
    GpuSpec& gpu = the_case.job.cluster.node.gpu;
    gpu.bf16_flops.value = 148e12;
    gpu.memory_bytes.value = 96e9;
    gpu.memory_Bps.value = 4e12;
    gpu.sms.value = 78;
    the_case.prepared = nullptr;
  }
  return simulate(the_case, {.threads = 2, .allow_oom = true});
}

TEST(RolloutRows, AsynchronyGainsWhatWasMeasured) {
  std::map<std::string, std::pair<double, double>> before;  // previous row: published, ours
  int compared = 0;
  int within = 0;  // within a bound that was set beforehand
  for (const Row& row : rows()) {
    if (row.mode == "one-step-off") continue;
    const RolloutReport report = *simulated(row).studies.find<RolloutReport>();
    std::printf(
        "%-6s %-20s %-12s %3d GPUs  step published %5.0f s, ours %5.0f (generation %s, ours %.0f; "
        "training %s, ours %.0f)\n",
        row.system.c_str(), row.model.c_str(), row.mode.c_str(), report.gpus, row.step_s,
        report.period_s, row.generation_s ? fmt::format("{:.0f}", *row.generation_s).c_str() : "-",
        report.generation_s, row.training_s ? fmt::format("{:.0f}", *row.training_s).c_str() : "-",
        report.training_s);
    if (row.mode == "colocated") {
      before[row.system] = {row.step_s, report.period_s};
      continue;
    }
    const auto [published_s, ours_s] = before.at(row.system);
    const double published = published_s / row.step_s;
    const double ours = ours_s / report.period_s;
    std::printf("    asynchronous: published %.2f times as fast, ours %.2f\n", published, ours);
    EXPECT_GT(ours, 1) << row.model;
    within += ours > published / 2 && ours < published * 2 ? 1 : 0;
    ++compared;
  }
  std::printf("%d of %d within a factor of two\n", within, compared);
  // docs/physics/reinforcement-learning.md says which row is missed, and why.
  EXPECT_EQ(compared, 5);
  EXPECT_GE(within, 4);
}

}  // namespace
}  // namespace windtunnel
