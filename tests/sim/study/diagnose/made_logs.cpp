#include "tests/sim/study/diagnose/made_logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "models/results/input_report.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

constexpr double kFirstTakes = 8;  // factor on the first step

double printed(const MadeRun& run, std::size_t i) {
  return run.step_s[i] * (i == 0 ? kFirstTakes : 1);
}

// Returns the least and the largest seconds over ranks in passes of one kind, found by the names of
// the tasks ("F0.3", "B0.3").
std::pair<double, double> passes(const Record& record, const std::string& kinds) {
  double least = 1e300;
  double most = 0;
  for (const RankTimeline& rank : record.timeline.ranks) {
    const std::vector<Task>& tasks = record.plan.classes[rank.rank_class].tasks;
    double sum = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].kind != TaskKind::compute || !tasks[i].action) continue;
      if (kinds.find(tasks[i].name.front()) == std::string::npos) continue;
      sum += rank.spans[i].end_s - rank.spans[i].start_s;
    }
    least = std::min(least, sum / record.plan.iterations);
    most = std::max(most, sum / record.plan.iterations);
  }
  return {least, most};
}

}  // namespace

Record simulated_job(const std::string& text, const Overrides& set) {
  SimulateOptions options;
  options.allow_oom = true;
  options.depth = StudyDepth::campaign;
  return simulate(parse_case(text, "job.yaml", set), options);
}

MadeRun made_run(const Record& record, int steps) {
  const IterationReport& step = record.iteration;
  MadeRun run;
  run.step_s.assign(static_cast<std::size_t>(steps), step.time_s);
  run.tokens_per_gpu = step.tokens_per_s * step.time_s / record.ranks;
  run.samples = record.job.batch.global;
  for (const GpuMemory& memory : step.memory) {
    run.allocated_bytes = std::max(run.allocated_bytes, memory.allocated());
    run.reserved_bytes = std::max(run.reserved_bytes, memory.allocated() + memory.fragmentation);
  }
  run.forward_s = passes(record, "F");
  run.backward_s = passes(record, "BIWR");
  run.gradients_s = step.critical_path_s[static_cast<std::size_t>(Category::dp)];
  run.optimizer_s = step.critical_path_s[static_cast<std::size_t>(Category::optimizer)];
  if (step.input) run.input_s = step.input->stall_s;
  return run;
}

void add_noise(MadeRun& run, double off, double sigma, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, sigma);
  for (double& step_s : run.step_s) step_s *= off * std::exp(normal(random));
  for (double* time : {&run.forward_s.first, &run.forward_s.second, &run.backward_s.first,
                       &run.backward_s.second, &run.gradients_s, &run.optimizer_s, &run.input_s}) {
    *time *= off * std::exp(normal(random));
  }
}

std::string megatron_log(const MadeRun& run) {
  std::string text =
      "------------------------ arguments ------------------------\n"
      "  tensor_model_parallel_size ...................... 2\n";
  const std::size_t steps = run.step_s.size();
  const auto timer = [](const char* name, double low_s, double high_s) {
    return fmt::format("    {:.<48}: ({:.2f}, {:.2f})\n", std::string(name) + " ", low_s * 1e3,
                       high_s * 1e3);
  };
  for (std::size_t i = 0; i < steps; ++i) {
    text += fmt::format(
        " [2026-03-01 10:{:02}:{:02}] iteration {:8}/{:8} | consumed samples: {:12} | elapsed time "
        "per iteration (ms): {:.1f} | learning rate: 3.0E-04 | global batch size: {:5.0f} | lm "
        "loss: 7.1E+00 | loss scale: 1.0 | number of skipped iterations:   0 |\n",
        i / 60 % 60, i % 60, i + 1, steps, (i + 1) * static_cast<std::size_t>(run.samples),
        printed(run, i) * 1e3, run.samples);
    if (i == 1) {
      text += fmt::format(
          "[Rank 0] (after 2 iterations) memory (MB) | allocated: 1000.0 | max allocated: {:.2f} | "
          "reserved: 1200.0 | max reserved: {:.2f}\n",
          run.allocated_bytes / 1048576, run.reserved_bytes / 1048576);
    }
    text += "(min, max) time across ranks (ms):\n";
    text += timer("forward-compute", run.forward_s.first, run.forward_s.second);
    text += timer("backward-compute", run.backward_s.first, run.backward_s.second);
    text += timer("batch-generator", run.input_s, run.input_s + 0.001);
    text += timer("all-grads-sync", run.gradients_s, run.gradients_s + 0.02);
    text += timer("optimizer", run.optimizer_s, run.optimizer_s + 0.001);
  }
  return text;
}

std::string torchtitan_log(const MadeRun& run) {
  std::string text;
  for (std::size_t i = 0; i < run.step_s.size(); ++i) {
    text += fmt::format(
        "[rank0]:[titan] 2026-03-01 10:00:{:02} - root - INFO - \x1b[31mstep: {:2}  \x1b[32mloss: "
        "{:7.4f}  \x1b[38;2;180;60;0mgrad_norm:  1.2345  \x1b[36mmemory: {:5.2f}GiB(40.00%)  "
        "\x1b[34mtps: {}  \x1b[36mtflops: 300.12  \x1b[35mmfu: 30.35%\x1b[39m\n",
        i % 60, i + 1, 8.0, run.reserved_bytes / 1073741824,
        std::lround(run.tokens_per_gpu / printed(run, i)));
  }
  return text;
}

std::string nemo_log(const MadeRun& run) {
  std::string text;
  const std::size_t steps = run.step_s.size();
  for (std::size_t i = 0; i < steps; ++i) {
    text += fmt::format(
        " 0: Training epoch 0, iteration {0}/{1} | lr: 1.5e-06 | global_batch_size: {2:.0f} | "
        "global_step: {0} | reduced_train_loss: 10.1 | train_step_timing in s: {3:.4g} | "
        "consumed_samples: {4:.0f}\n",
        i, steps - 1, run.samples, printed(run, i), run.samples * static_cast<double>(i + 1));
  }
  return text;
}

std::string deepspeed_log(const MadeRun& run) {
  std::string text;
  for (std::size_t i = 0; i < run.step_s.size(); ++i) {
    text += fmt::format(
        "[2026-03-01 10:00:{0:02},123] [INFO] [timer.py:260:stop] epoch=0/micro_step={1}/"
        "global_step={1}, RunningAvgSamplesPerSec={2:.6f}, CurrSamplesPerSec={2:.6f}, "
        "MemAllocated=9.5GB, MaxMemAllocated={3:.2f}GB\n",
        i % 60, i + 1, run.samples / printed(run, i), run.allocated_bytes / 1073741824);
  }
  return text;
}

std::string trainer_log(const MadeRun& run) {
  std::string text;
  const std::size_t steps = run.step_s.size();
  double passed_s = 0;
  double mean_s = 0;  // tqdm's moving mean, before it is normalised by the sum of weights
  double mean_steps = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    passed_s += printed(run, i);
    mean_s = 0.3 * printed(run, i) + 0.7 * mean_s;
    mean_steps = 0.3 + 0.7 * mean_steps;
    const double pace_s = mean_s / mean_steps;
    text += fmt::format(
        "{}  5%|5         | {}/{} [{:02.0f}:{:02.0f}<09:59, {}]", i == 0 ? "" : "\r", i + 1, steps,
        std::floor(passed_s / 60), std::floor(std::fmod(passed_s, 60)),
        pace_s > 1 ? fmt::format("{:5.2f}s/it", pace_s) : fmt::format("{:5.2f}it/s", 1 / pace_s));
  }
  return text + "\n{'train_runtime': 10.0, 'epoch': 1.0}\n";
}

}  // namespace windtunnel
