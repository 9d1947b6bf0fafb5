// A fabric and a class of failures of one's own, each used by name like those of the library: racks
// of four nodes share a part of what their NICs could send, and a driver ends processes. A ring
// enters and leaves a rack once, so that a quarter is enough, and a sixteenth is not.
#include <cstdio>
#include <utility>
#include <windtunnel/windtunnel.hpp>

constexpr const char* kScenario = R"(
name: racks
model: llama3-8b
cluster: {nodes: 16, node: dgx-h100, storage: {write: 10 GB/s, read: 10 GB/s}}
layout: {tp: 1, sharding: zero3}
batch: {global: 128}
recompute: selective
communication: {overlap: bucketed}
snapshots:
  - {tier: storage, every: 30 min}
failures:
  - {class: node, rate: 3 per 1000 node-days, repair: 24 h}
recovery: {spares: 1}
campaign: {length: 30 d, replicas: 20}
)";

int main() {
  windtunnel::Case the_case = windtunnel::Case::from_text(kScenario);
  for (const auto& [name, oversubscription] : {std::pair{"racks", "4"}, {"thin-racks", "16"}}) {
    the_case.add_fabric(name, {{"topology", "fat-tree"},
                               {"nodes_per_pod", "4"},
                               {"pod_oversubscription", oversubscription}});
  }
  the_case.add_failure("driver", {{"kind", "process"}, {"rate", "12 per 1000 node-days"}});

  for (const char* fabric : {"full-bisection", "racks", "thin-racks"}) {
    const windtunnel::Result result = windtunnel::simulate(the_case.set("cluster.fabric", fabric));
    std::printf("%-14s step %.3f s, goodput %.2f %%\n", fabric, result["iteration.time_s"],
                100 * result["campaign.goodput"]);
  }
  the_case.set("failures", "[driver, {class: node, rate: 3 per 1000 node-days, repair: 24 h}]");
  const windtunnel::Result result = windtunnel::simulate(the_case);
  std::printf("%-14s step %.3f s, goodput %.2f %%\n", "and driver", result["iteration.time_s"],
              100 * result["campaign.goodput"]);
}
