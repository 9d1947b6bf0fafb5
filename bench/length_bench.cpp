// Each policy may take 3 s to assign 4,096 unequal sequences to 1,024 GPUs, including the costs of
// the sequences for each degree, and 0.3 s for 512 sequences on 64 GPUs.
#include <benchmark/benchmark.h>

#include <string>

#include "policies/iteration.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {
namespace {

Job job_of(const std::string& policy, const std::string& nodes, const std::string& sequences) {
  return load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/headlines/flexsp.yaml",
                   {{"layout.length_policy", policy},
                    {"cluster.nodes", nodes},
                    {"batch.global", sequences},
                    {"layout.sharding", "zero1"},
                    {"cluster.node.gpu", "a100-80"}})
      .job;
}

// `gain` is the speedup over one static degree.
void balance(benchmark::State& state, const std::string& policy) {
  const std::string nodes = std::to_string(state.range(0) / 8);
  const std::string sequences = std::to_string(state.range(1));
  const Job fixed = job_of("fixed", nodes, sequences);
  const double fixed_s = estimate_iteration(fixed, prepare_iteration(fixed)).step_s;
  const Job job = job_of(policy, nodes, sequences);
  double step_s = 0;
  for (auto _ : state) step_s = estimate_iteration(job, prepare_iteration(job)).step_s;
  state.counters["gain"] = fixed_s / step_s;
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"gpus", "sequences"})
      ->Args({64, 512})
      ->Args({1024, 4096})
      ->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(balance, fixed, "fixed")->Apply(sizes);
BENCHMARK_CAPTURE(balance, flexsp, "flexsp")->Apply(sizes);
BENCHMARK_CAPTURE(balance, hdp, "hdp")->Apply(sizes);

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
