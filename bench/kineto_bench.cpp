// The reader of PyTorch's traces may take 30 s and 500 MB for a file of 1 GB. The file is made
// (tests/traces/profile/made_kineto.hpp) and removed again.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "tests/traces/profile/made_kineto.hpp"
#include "traces/profile/captured_steps.hpp"
#include "traces/profile/profile_reader.hpp"

namespace windtunnel {
namespace {

void read_a_gigabyte(benchmark::State& state) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "windtunnel-bench-kineto.json").string();
  std::uint64_t bytes = 0;
  {
    std::ofstream out(path, std::ios::binary);
    bytes =
        write_made_kineto({.tp = 8, .dp = 2, .steps = 90, .layers = 80, .microbatches = 4}, out);
  }
  std::size_t kernels = 0;
  std::size_t steps = 0;
  for (auto _ : state) {
    const RankProfile profile = read_kineto(path);
    kernels = profile.work.size();
    steps = captured_steps(profile).steps.size();
  }
  std::filesystem::remove(path);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
  state.counters["file_MB"] = double(bytes) * 1e-6;
  state.counters["kernels"] = double(kernels);
  state.counters["steps"] = double(steps);
  state.counters["peak_MB"] = double(usage.ru_maxrss) * 1024e-6;
}
BENCHMARK(read_a_gigabyte)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
