// The closed estimate of Llama-3-405B on 16,384 GPUs may take 0.15 ms with 16 stages and 16
// micro-batches, with or without interleaving (8 chunks), and 1 ms with 4096 stages x
// micro-batches. A Plan is evaluated in process at 2 million tasks/s.
#include <benchmark/benchmark.h>

#include <string>

#include "policies/evaluation/plan_evaluation.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {
namespace {

void estimate(benchmark::State& state, const std::string& scenario, const Overrides& overrides) {
  const Case the_case = load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/" + scenario, overrides);
  const PreparedIteration prepared = prepare_iteration(the_case.job);
  for (auto _ : state) {
    const IterationEstimate estimate = estimate_iteration(the_case.job, prepared);
    state.counters["step_s"] = estimate.step_s;
  }
}

void estimate(benchmark::State& state, const Overrides& overrides) {
  estimate(state, "llama3-405b.yaml", overrides);
}

void llama_405b(benchmark::State& state) {
  estimate(state, {{"layout.vpp", "1"},
                   {"schedule", "1f1b"},
                   {"layout.stages", "[7,8,8,8,8,8,8,8,8,8,8,8,8,8,8,7]"}});
}
void llama_405b_interleaved(benchmark::State& state) {
  estimate(state, {});
}
void llama_405b_256_microbatches(benchmark::State& state) {
  estimate(state, {{"layout.vpp", "1"},
                   {"schedule", "1f1b"},
                   {"layout.stages", "[7,8,8,8,8,8,8,8,8,8,8,8,8,8,8,7]"},
                   {"batch.global", "32768"}});
}
void llama_405b_interleaved_256_microbatches(benchmark::State& state) {
  estimate(state, {{"batch.global", "32768"}});
}
void llama_405b_fsdp(benchmark::State& state) {
  estimate(state, {{"layout.vpp", "1"},
                   {"schedule", "1f1b"},
                   {"layout.pp", "1"},
                   {"layout.dp", "2048"},
                   {"layout.stages", "[126]"},
                   {"layout.sharding", "zero3"},
                   {"batch.global", "2048"}});
}
void prepare_405b(benchmark::State& state) {
  const Case the_case = load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/llama3-405b.yaml", {});
  for (auto _ : state) benchmark::DoNotOptimize(prepare_iteration(the_case.job));
}

// A data-parallel step on 64 GPUs whose collectives are tasks of a Plan, evaluated without the
// engine, with seven ways to overlap gradients, and with two compressors.
Overrides bert_large_with(const std::string& overlap, const std::string& compressor) {
  return {{"model", "bert-large"},
          {"cluster.nodes", "8"},
          {"layout", "{tp: 1, pp: 1}"},
          {"batch", "{global: 2048, micro: 32}"},
          {"communication.overlap", overlap},
          {"communication.compressor", compressor}};
}
void bert_large(benchmark::State& state, const std::string& overlap,
                const std::string& compressor) {
  estimate(state, "small.yaml", bert_large_with(overlap, compressor));
}
// Measures only the evaluation of the Plan, which is made once beforehand.
void plan_of_bert_large(benchmark::State& state) {
  Job job =
      load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/small.yaml", bert_large_with("wfbp", "acp-sgd"))
          .job;
  job.communication.fidelity = Fidelity::closed;
  const PreparedIteration prepared = prepare_iteration(job);
  const Plan plan = iteration_plan(job, prepared);
  for (auto _ : state) benchmark::DoNotOptimize(evaluate_plan(plan, job.cluster));
  state.SetItemsProcessed(state.iterations() * std::ssize(plan.classes.front().tasks));
}
BENCHMARK(plan_of_bert_large)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(bert_large, none, "none", "none")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(bert_large, wfbp, "wfbp", "none")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(bert_large, bucketed, "bucketed", "none")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(bert_large, mg_wfbp, "mg-wfbp", "none")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(bert_large, asc, "asc", "none")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(bert_large, priority, "priority", "none")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(bert_large, dear, "dear", "none")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(bert_large, powersgd, "bucketed", "powersgd")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(bert_large, wfbp_acp_sgd, "wfbp", "acp-sgd")->Unit(benchmark::kMicrosecond);

BENCHMARK(llama_405b)->Unit(benchmark::kMicrosecond);
BENCHMARK(llama_405b_interleaved)->Unit(benchmark::kMicrosecond);
BENCHMARK(llama_405b_256_microbatches)->Unit(benchmark::kMicrosecond);
BENCHMARK(llama_405b_interleaved_256_microbatches)->Unit(benchmark::kMicrosecond);
BENCHMARK(llama_405b_fsdp)->Unit(benchmark::kMicrosecond);
BENCHMARK(prepare_405b)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
