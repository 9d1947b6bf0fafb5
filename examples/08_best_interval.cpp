// How often to take snapshots: the interval with the best goodput, simulated, beside what the
// formulas of Young and Daly say, and how much following them would cost.
#include <cstdio>
#include <string>
#include <vector>
#include <windtunnel/windtunnel.hpp>

constexpr const char* kScenario = R"(
name: interval
model: llama3-70b
cluster: {nodes: 128, node: dgx-h100, storage: {write: 20 GB/s, read: 20 GB/s}}
layout: {tp: 8, pp: 4, sharding: zero1, sequence_parallel: true}
batch: {global: 1024}
recompute: selective
communication: {overlap: bucketed}
snapshots:
  - {tier: storage, every: 1 h}
failures:
  - {class: node, rate: 10 per 1000 node-days, repair: 24 h}
recovery: {spares: 8}
campaign: {length: 30 d, replicas: 100}
)";

int main() {
  const windtunnel::Case the_case = windtunnel::Case::from_text(kScenario);
  std::vector<std::string> intervals;
  for (const int minutes : {5, 10, 15, 20, 30, 45, 60, 90, 120, 240}) {
    intervals.push_back(std::to_string(minutes) + " min");
  }
  const windtunnel::SweepPoint* best = nullptr;
  const auto points = windtunnel::sweep(the_case, {{"snapshots.0.every", intervals}});
  const auto goodput = [](const windtunnel::SweepPoint& point) {
    return point.figures["campaign.goodput"];
  };
  for (const windtunnel::SweepPoint& point : points) {
    std::printf("%-8s %.2f %%\n", point.set[0].second.c_str(), 100 * goodput(point));
    if (best == nullptr || goodput(point) > goodput(*best)) best = &point;
  }

  const windtunnel::Result result = windtunnel::simulate(the_case);
  std::printf("best of these: %s\n", best->set[0].second.c_str());
  std::printf("Young: %.0f min\n", result["campaign.interval.young_s"] / 60);
  std::printf("Daly: %.0f min\n", result["campaign.interval.daly_s"] / 60);
}
