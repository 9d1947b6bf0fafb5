// The tasks of a step: what each pipeline rank computes, how long it waits, and which task it waits
// for before its first backward pass.
#include <algorithm>
#include <cstdio>
#include <windtunnel/windtunnel.hpp>

constexpr const char* kScenario = R"(
name: pipeline
model: llama3-8b
cluster: {nodes: 4, node: dgx-h100}
layout: {tp: 8, pp: 4, sharding: zero1, sequence_parallel: true}
batch: {global: 8, micro: 1}
recompute: selective
schedule: 1f1b
)";

int main() {
  const windtunnel::Result result = windtunnel::simulate(windtunnel::Case::from_text(kScenario));
  const double step_s = result["iteration.time_s"];
  for (const windtunnel::RankTimeline& rank : result.timeline()) {
    double busy_s = 0;
    int passes = 0;
    for (const windtunnel::TimedTask& task : rank.tasks) {
      if (task.kind != "compute" || task.iteration != 0) continue;
      busy_s += task.end_s - task.start_s;
      ++passes;
    }
    const auto backward =
        std::ranges::find_if(rank.tasks, [](const auto& task) { return task.name[0] == 'B'; });
    if (backward == rank.tasks.end()) continue;
    const char* before = "its own forward";
    if (!backward->after.empty()) {
      before = rank.tasks[static_cast<std::size_t>(backward->after.back())].name.c_str();
    }
    std::printf("%-6s %2d computations, %4.1f %% of the step; %s starts at %.1f ms after %s\n",
                rank.kind.c_str(), passes, 100 * busy_s / step_s, backward->name.c_str(),
                backward->start_s * 1e3, before);
  }
}
