// One iteration of scenarios/llama3-405b.yaml from the resolved case to the report: costs,
// schedule, memory, Plan, engine, critical path. Peak memory is that of the simulating process.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "policies/search/memory_search.hpp"
#include "scenarios/language/company.hpp"
#include "sim/study/power_study.hpp"
#include "sim/study/simulate.hpp"
#include "sim/study/simulate_company.hpp"

namespace windtunnel {
namespace {

void simulate_iteration(benchmark::State& state, const Overrides& overrides,
                        const char* scenario = WINDTUNNEL_SOURCE_DIR
                        "/scenarios/llama3-405b.yaml") {
  Case the_case = load_case(scenario, overrides);
  the_case.job.campaign.length_s = 0;
  for (auto _ : state) {
    const Record record = simulate(the_case, {.allow_oom = true});
    state.counters["step_s"] = record.iteration.time_s;
    state.counters["ranks"] = record.ranks;
    state.counters["ranks_simulated"] = static_cast<double>(record.timeline.ranks_simulated);
    state.counters["activities"] = static_cast<double>(record.timeline.events);
    state.counters["peak_MB"] = record.peak_rss_bytes / 1e6;
  }
}

void folded_16384(benchmark::State& state) {
  simulate_iteration(state, {});
}

// Computes the energy of that step and the peak power of its nodes and racks; 10 ms are allowed.
void power_16384(benchmark::State& state) {
  Case the_case = load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/llama3-405b.yaml",
                            {{"cluster.power.pue", "1.1"}});
  the_case.job.campaign.length_s = 0;
  const Record record = simulate(the_case, {.allow_oom = true});
  for (auto _ : state) {
    const PowerReport report = study_power(*the_case.asked.find<PowerSpec>(), record);
    state.counters["peak_MW"] = report.cluster.peak_W / 1e6;
  }
}

// Every collective of tensor parallelism is a task of the Plan; 2 s are allowed.
void inner_tasks_16384(benchmark::State& state) {
  simulate_iteration(state, {{"communication.inner", "tasks"}});
}

// The state and activations of 70 billion parameters are offloaded by eight GPUs, and each layer's
// copies are flows.
void offload_8(benchmark::State& state) {
  simulate_iteration(state,
                     {{"recompute", "selective"},
                      {"offload",
                       "{optimizer: host, gradients: host, weights: host, activations: "
                       "host}"}},
                     WINDTUNNEL_SOURCE_DIR "/scenarios/offload.yaml");
}

// Searches for the cheapest recomputation and offloading that fit: recompute: auto, offload: auto.
void offload_found(benchmark::State& state) {
  const Case the_case = load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/offload.yaml");
  const Job open = with_memory_open(the_case.job);
  for (auto _ : state) benchmark::DoNotOptimize(with_memory_found(open));
}

// The experts are spread over 64 of 2,048 GPUs, and their all-to-alls are tasks; 2 s are allowed.
void deepseek_v3(benchmark::State& state) {
  simulate_iteration(state, {}, WINDTUNNEL_SOURCE_DIR "/scenarios/headlines/deepseek-v3.yaml");
}

// Pipeline stages run on 512 H100 or on 512 A100; 2 s are allowed.
void mixed_1024(benchmark::State& state) {
  simulate_iteration(state, {}, WINDTUNNEL_SOURCE_DIR "/scenarios/pools/mixed-generations.yaml");
}

// On the same cluster, each replica has GPUs of one kind, so the replicas differ in micro-batches.
void mixed_replicas_1024(benchmark::State& state) {
  simulate_iteration(state, {}, WINDTUNNEL_SOURCE_DIR "/scenarios/pools/replicas.yaml");
}

void folded_131072(benchmark::State& state) {
  simulate_iteration(
      state, {{"cluster.nodes", "16384"}, {"layout.dp", "1024"}, {"batch.global", "16384"}});
}

void folded_1048576(benchmark::State& state) {
  simulate_iteration(
      state, {{"cluster.nodes", "131072"}, {"layout.dp", "8192"}, {"batch.global", "131072"}});
}

// Includes campaigns: iterations with snapshots and with failed nodes, and the advice on snapshot
// intervals.
void campaign_131072(benchmark::State& state) {
  const Case the_case =
      load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/llama3-405b.yaml",
                {{"cluster.nodes", "16384"}, {"layout.dp", "1024"}, {"batch.global", "16384"}});
  for (auto _ : state) benchmark::DoNotOptimize(simulate(the_case).campaign->goodput.mean);
}

void unfolded_16384(benchmark::State& state) {
  simulate_iteration(state, {{"fold", "none"}});
}

// Two jobs of 1,024 GPUs each run on one cluster, alone and together; 2 s are allowed.
void jobs_side_by_side(benchmark::State& state, const char* placement) {
  const auto job = [](const char* name, int pp, int vpp) {
    return fmt::format(
        "name: {}\nmodel: gpt3-175b\ncluster: {{nodes: 128, node: dgx-h100}}\nlayout: {{tp: 8, pp: "
        "{}, vpp: {}, sharding: zero1, sequence_parallel: true}}\nbatch: {{global: 512, micro: "
        "1}}\nrecompute: selective\nschedule: interleaved-1f1b\ncommunication: {{overlap: "
        "bucketed}}\n",
        name, pp, vpp);
  };
  const ScenarioText scenario = {
      .file = "company.yaml",
      .text = fmt::format("name: company\ncluster: {{nodes: 256, node: dgx-h100, fabric: "
                          "{{nodes_per_pod: 32, pod_oversubscription: 4}}}}\njobs: [a.yaml, "
                          "b.yaml]\nplacement: {}\n",
                          placement),
      .files = {{.name = "a.yaml", .text = job("a", 8, 6)},
                {.name = "b.yaml", .text = job("b", 16, 3)}}};
  for (auto _ : state) {
    const CompanyReport report = simulate_company(resolve_company(scenario));
    state.counters["slowdown"] = report.jobs.front().slowdown;
  }
}

BENCHMARK(folded_16384)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(power_16384)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(inner_tasks_16384)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(offload_8)->Unit(benchmark::kMillisecond);
BENCHMARK(offload_found)->Unit(benchmark::kMillisecond);
BENCHMARK(deepseek_v3)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(mixed_1024)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(mixed_replicas_1024)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(folded_131072)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(folded_1048576)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);
BENCHMARK_CAPTURE(jobs_side_by_side, packed, "packed")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(jobs_side_by_side, spread, "spread")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(campaign_131072)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);
BENCHMARK(unfolded_16384)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
