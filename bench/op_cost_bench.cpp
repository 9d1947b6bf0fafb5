// Measures the cost models that every case runs: of one kernel, and of all chunks of Llama 3 405B
// and DeepSeek-V3.
#include <benchmark/benchmark.h>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/op/op_cost.hpp"
#include "scenarios/language/library/library.hpp"

namespace windtunnel {
namespace {

Job llama3_405b() {
  Job job;
  job.model = find_model("llama3-405b");
  job.layout = {.tp = 8,
                .pp = 16,
                .vpp = 8,
                .dp = 128,
                .sequence_parallel = true,
                .first_stage_layers = -1,
                .last_stage_layers = -1};
  job.batch = {.global = 2048, .micro = 1, .sequence = 8192};
  job.recompute = Recompute::selective;
  job.calibration = find_calibration("h100-published");
  job.cluster.nodes = 2048;
  job.cluster.node = find_node("dgx-h100");
  return job;
}

void gemm_cost(benchmark::State& state) {
  const Job job = llama3_405b();
  const auto ops = block_ops(job, Block::layer, Pass::forward);
  const Op& up = product_of(ops, OpRole::up);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        op_cost(up, job.cluster.node.gpu, Precision::bf16, job.calibration).seconds);
  }
}
BENCHMARK(gemm_cost);

void llama3_405b_chunk_costs(benchmark::State& state) {
  const Job job = llama3_405b();
  for (auto _ : state) {
    benchmark::DoNotOptimize(chunk_costs(job));
  }
}
BENCHMARK(llama3_405b_chunk_costs);

// DeepSeek-V3 has 61 layers on 16 stages and spreads its experts over 8 nodes (DeepSeek-AI 2024,
// arXiv 2412.19437, section 3.2).
void deepseek_v3_chunk_costs(benchmark::State& state) {
  Job job = llama3_405b();
  job.model = find_model("deepseek-v3");
  job.layout = {.pp = 16, .dp = 128, .ep = 64};
  job.layout.stage_layers = std::vector<int>(16, 4);
  job.layout.stage_layers.back() = 1;
  job.batch = {.global = 15360, .micro = 1, .sequence = 4096};
  job.cluster.nodes = 256;
  for (auto _ : state) {
    benchmark::DoNotOptimize(chunk_costs(job));
  }
}
BENCHMARK(deepseek_v3_chunk_costs);

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
