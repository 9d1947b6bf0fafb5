// Values set over a scenario: which layout of Llama 2 13B on four nodes is the fastest that fits?
// Cases are values: each layout is set on a copy.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>
#include <windtunnel/windtunnel.hpp>

constexpr const char* kScenario = R"(
name: layouts
model: llama2-13b
cluster: {nodes: 4, node: dgx-a100}
layout: {tp: 1, pp: 1, sharding: zero1, sequence_parallel: true}
batch: {global: 128}
recompute: selective
communication: {overlap: bucketed}
)";

struct Row {
  std::string layout;
  double time_s = 0;
};

int main() {
  const windtunnel::Case base = windtunnel::Case::from_text(kScenario);
  std::vector<Row> rows;
  for (const char* tp : {"1", "2", "4", "8"}) {
    for (const char* pp : {"1", "2", "4"}) {
      windtunnel::Case the_case = base;
      the_case.set("layout.tp", tp).set("layout.pp", pp);
      const std::string layout = std::string("tp ") + tp + ", pp " + pp;
      try {
        rows.push_back({layout, windtunnel::simulate(the_case)["iteration.time_s"]});
      } catch (const windtunnel::Error& error) {
        if (error.cause() != windtunnel::Error::Cause::failed) throw;
        std::printf("%s: %s\n", layout.c_str(), error.what());
      }
    }
  }
  std::ranges::sort(rows, {}, &Row::time_s);
  for (const Row& row : rows) std::printf("%s: %.3f s\n", row.layout.c_str(), row.time_s);
}
