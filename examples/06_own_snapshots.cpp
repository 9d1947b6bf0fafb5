// A protection scheme of one's own, used by name like those of the library: Reed-Solomon parity in
// the memory of each group of ten nodes survives the loss of any two of them, beside a checkpoint
// every six hours.
#include <cstdio>
#include <windtunnel/windtunnel.hpp>

constexpr const char* kScenario = R"(
name: protection
model: llama3-70b
cluster: {nodes: 40, node: dgx-h100, storage: {write: 20 GB/s, read: 20 GB/s}}
layout: {tp: 8, pp: 4, sharding: zero1, sequence_parallel: true}
batch: {global: 320}
recompute: selective
communication: {overlap: bucketed}
snapshots: sync
failures:
  - {class: node, rate: 10 per 1000 node-days, repair: 24 h}
recovery: {spares: 4}
campaign: {length: 30 d, replicas: 50}
)";

int main() {
  windtunnel::Case the_case = windtunnel::Case::from_text(kScenario);
  the_case.add_snapshots("ten-nodes", {{{"tier", "peers"},
                                        {"every", "5 iterations"},
                                        {"mode", "lazy"},
                                        {"keeper", "process"},
                                        {"code", "{name: rs, data: 8, parity: 2}"}},
                                       {{"tier", "storage"}, {"every", "6 h"}, {"mode", "async"}}});

  for (const char* name : {"sync", "gemini", "ten-nodes"}) {
    const windtunnel::Result result = windtunnel::simulate(the_case.set("snapshots", name));
    std::printf("%-10s goodput %.2f %%", name, 100 * result["campaign.goodput"]);
    if (const auto* survival = result.figures().find("campaign.tiers.0.survival_7d")) {
      std::printf(", nearest tier survives a week with probability %.4f", survival->value);
    }
    std::printf("\n");
  }
}
