// A gradient compressor of one's own beside two of the library: it sends one block in fifty of each
// buffer, drawn by a seed that all ranks share, in half precision. A simulation only needs what
// work it gives a GPU; how much it slows learning is for an experiment to say.
#include <cstdio>
#include <windtunnel/windtunnel.hpp>

constexpr const char* kScenario = R"(
name: compression
model: llama3-8b
cluster: {nodes: 8, node: {base: dgx-h100, nic: 50 Gb/s}}
layout: {tp: 8, sharding: none, sequence_parallel: true}
batch: {global: 64}
recompute: selective
schedule: 1f1b
communication: {overlap: bucketed}
)";

windtunnel::Recipe blocks_of_half(const windtunnel::CompressorRequest& request) {
  const double n = request.elements();
  const double b = request.element_bytes;
  const double kept = request.numbers.at("density") * n;
  windtunnel::Recipe recipe;
  recipe.steps = {// What was not sent last time is added, then the chosen blocks are gathered.
                  {.kernels = {{.bytes = 3 * b * n, .like = "error add"},
                               {.bytes = (b + 2) * kept, .like = "gather"}},
                   .collective = windtunnel::Collective::all_reduce,
                   .bytes = 2 * kept},
                  {.kernels = {{.bytes = (b + 2) * kept, .like = "scatter"}}}};
  recipe.state_bytes = b * n;
  recipe.buffer_bytes = 2 * kept;
  return recipe;
}

int main() {
  windtunnel::Case the_case = windtunnel::Case::from_text(kScenario);
  the_case.add_compressor("half-blocks", {.recipe = blocks_of_half,
                                          .numbers = {{"density", 0.02}},
                                          .summable = true,
                                          .fusible = true});

  for (const char* name : {"none", "random-block", "half-blocks"}) {
    the_case.set("communication.compressor", name);
    const windtunnel::Result result = windtunnel::simulate(the_case);
    std::printf("%-12s step %.3f s, %.1f GB of memory\n", name, result["iteration.time_s"],
                result["iteration.memory_bytes.peak"] / 1e9);
  }
}
