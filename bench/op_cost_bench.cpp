// The cost models on the path of every case: one kernel, all chunks of Llama 3 405B.
#include <benchmark/benchmark.h>

#include "models/chunk_cost.hpp"
#include "models/op_cost.hpp"
#include "scenarios/library.hpp"

namespace windtunnel {
namespace {

struct Case {
  Cluster cluster;
  TransformerSpec model = find_model("llama3-405b");
  Layout layout{.tp = 8,
                .pp = 16,
                .vpp = 8,
                .dp = 128,
                .sequence_parallel = true,
                .first_stage_layers = -1,
                .last_stage_layers = -1};
  Batch batch{.global = 2048, .micro = 1, .sequence = 8192};
  const Calibration& calibration = find_calibration("h100-published");

  Case() {
    cluster.nodes = 2048;
    cluster.node = find_node("dgx-h100");
  }
};

void gemm_cost(benchmark::State& state) {
  const Case at;
  const auto ops =
      block_ops(at.model, at.layout, at.batch, Precision::bf16, Block::layer, Pass::forward);
  const Op& up = op_named(ops, "up");
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        op_cost(up, at.cluster.node.gpu, Precision::bf16, at.calibration).seconds);
  }
}
BENCHMARK(gemm_cost);

void llama3_405b_chunk_costs(benchmark::State& state) {
  const Case at;
  for (auto _ : state) {
    benchmark::DoNotOptimize(chunk_costs(at.model, at.cluster, at.layout, at.batch, Precision::bf16,
                                         Recompute::selective, at.calibration));
  }
}
BENCHMARK(llama3_405b_chunk_costs);

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
