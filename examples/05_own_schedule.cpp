// A pipeline schedule of one's own, used by name like those of the library: 1f1b that starts with
// `ahead` more forwards on each rank, which hides messages and keeps more activations.
#include <algorithm>
#include <cstdio>
#include <string>
#include <windtunnel/windtunnel.hpp>

constexpr const char* kScenario = R"(
name: pipeline
model: llama3-70b
cluster: {nodes: 8, node: {base: dgx-h100, nic: 25 Gb/s}}
layout: {tp: 8, pp: 8, sequence_parallel: true}
batch: {global: 16}
recompute: full
schedule: 1f1b
)";

windtunnel::ScheduleGenerator eager(int ahead) {
  return [ahead](const windtunnel::ScheduleRequest& request) {
    using windtunnel::Pass;
    windtunnel::Schedule schedule;
    for (int rank = 0; rank < request.ranks; ++rank) {
      auto& actions = schedule.actions.emplace_back();
      const int first = std::min(request.microbatches, request.ranks - rank + ahead);
      int forwards = 0;
      while (forwards < first) actions.push_back({Pass::forward, rank, forwards++});
      for (int backwards = 0; backwards < request.microbatches; ++backwards) {
        actions.push_back({Pass::backward, rank, backwards});
        if (forwards < request.microbatches) actions.push_back({Pass::forward, rank, forwards++});
      }
    }
    return schedule;
  };
}

int main() {
  windtunnel::Case the_case = windtunnel::Case::from_text(kScenario);
  for (const int ahead : {1, 2, 4}) {
    the_case.add_schedule("eager-" + std::to_string(ahead), eager(ahead));
  }
  for (const char* name : {"1f1b", "eager-1", "eager-2", "eager-4"}) {
    const windtunnel::Result result = windtunnel::simulate(the_case.set("schedule", name));
    std::printf("%-8s  %.3f s  %.1f GB\n", name, result["iteration.time_s"],
                result["iteration.memory_bytes.peak"] / 1e9);
  }
}
