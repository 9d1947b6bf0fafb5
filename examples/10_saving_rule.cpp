// A rule that decides when to save while the job runs. Nobody knows how often this machine fails,
// so the rule begins with a guess, then estimates the failure rate from the failures so far and
// sets the interval by Young's formula.
#include <cmath>
#include <cstdio>
#include <windtunnel/windtunnel.hpp>

constexpr const char* kScenario = R"(
name: saving
model: llama3-8b
cluster: {nodes: 16, node: dgx-h100, storage: {write: 2 GB/s, read: 10 GB/s}}
layout: {tp: 4, pp: 2, sharding: zero1, sequence_parallel: true}
batch: {global: 256}
recompute: selective
schedule: 1f1b
communication: {overlap: bucketed}
snapshots: [{tier: storage, every: 2 h}]
failures: [{class: node, rate: 5 per 1000 node-days, repair: 4 h}]
recovery: {spares: 1}
campaign: {length: 60 d, replicas: 100}
)";

constexpr double kGuess_s = 4 * 86400;  // one failure in four days

double young(const windtunnel::SavingMoment& moment) {
  const double failures = 1 + static_cast<double>(moment.failures);
  return std::sqrt(2 * moment.stall_s * (kGuess_s + moment.now_s) / failures);
}

int main() {
  windtunnel::Case the_case = windtunnel::Case::from_text(kScenario);
  the_case.add_saving_rule("learnt", young);

  for (const char* rate : {"1 per 1000 node-days", "25 per 1000 node-days"}) {
    the_case.set("failures.0.rate", rate);
    for (const char* every : {"2 h", "learnt"}) {
      const windtunnel::Result result =
          windtunnel::simulate(the_case.set("snapshots.0.every", every));
      std::printf("%-22s every %-7s mean %5.1f min, goodput %.2f %%\n", rate, every,
                  result["campaign.tiers.0.every_s"] / 60, 100 * result["campaign.goodput"]);
    }
  }
}
