// A scenario from text to its figures: how long does one step of Llama 3 8B take on two nodes, and
// how much of a month of wall time becomes progress?
#include <cstdio>
#include <windtunnel/windtunnel.hpp>

constexpr const char* kScenario = R"(
name: small
model: llama3-8b
cluster: {nodes: 2, node: dgx-h100, storage: {write: 10 GB/s, read: 10 GB/s}}
layout: {tp: 2, pp: 2, sharding: zero1, sequence_parallel: true}
batch: {global: 64}
recompute: selective
schedule: 1f1b
communication: {overlap: bucketed}
snapshots:
  - {tier: storage, every: 30 min}
failures:
  - {class: node, rate: 6.5 per 1000 node-days, repair: 24 h}
recovery: {spares: 1}
campaign: {length: 30 d, replicas: 20}
)";

int main() {
  const windtunnel::Case the_case = windtunnel::Case::from_text(kScenario);
  const windtunnel::Result result = windtunnel::simulate(the_case);

  std::printf("iteration   %.3f s\n", result["iteration.time_s"]);
  std::printf("throughput  %.0f tokens/s\n", result["iteration.tokens_per_s"]);
  std::printf("MFU         %.1f %%\n", 100 * result["iteration.mfu"]);
  std::printf("memory      %.1f GB\n", result["iteration.memory_bytes.peak"] / 1e9);

  const windtunnel::Figure& goodput = result.figures().at("campaign.goodput");
  std::printf("goodput     %.2f %%, between %.2f and %.2f %%\n", 100 * goodput.value,
              100 * goodput.interval->low, 100 * goodput.interval->high);
}
