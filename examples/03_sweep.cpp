// A grid of campaigns: what failures cost, by their rate and the time between snapshots. Points
// arrive as they are finished; the grid comes back in order.
#include <cstdio>
#include <windtunnel/windtunnel.hpp>

constexpr const char* kScenario = R"(
name: failures
model: llama3-70b
cluster: {nodes: 64, node: dgx-h100, storage: {write: 50 GB/s, read: 50 GB/s}}
layout: {tp: 8, pp: 4, sharding: zero1, sequence_parallel: true}
batch: {global: 512}
recompute: selective
communication: {overlap: bucketed}
snapshots:
  - {tier: storage, every: 1 h, mode: async}
failures:
  - {class: node, rate: 1 per 1000 node-days, repair: 24 h}
recovery: {spares: 4}
campaign: {length: 30 d, replicas: 50}
)";

int main() {
  int finished = 0;
  windtunnel::SweepOptions options;
  options.finished = [&](const windtunnel::SweepPoint&) { ++finished; };

  const auto points =
      windtunnel::sweep(windtunnel::Case::from_text(kScenario),
                        {{"failures.0.rate", {"2 per 1000 node-days", "20 per 1000 node-days"}},
                         {"snapshots.0.every", {"10 min", "1 h", "6 h"}}},
                        options);

  std::printf("%d points, goodput:\n", finished);
  for (const windtunnel::SweepPoint& point : points) {
    const windtunnel::Figure& goodput = point.figures.at("campaign.goodput");
    std::printf("%-22s every %-6s  %.1f %%  (%.1f to %.1f)\n", point.set[0].second.c_str(),
                point.set[1].second.c_str(), 100 * goodput.value, 100 * goodput.interval->low,
                100 * goodput.interval->high);
  }
}
