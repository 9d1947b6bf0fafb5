// Measures XOR parity of k data blocks in bytes of data encoded per second, on the CPU and, where
// there is one, on the CUDA device. An `unaligned` case reads blocks that start one byte off.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "kernels/code/xor_code.hpp"

namespace windtunnel {
namespace {

void encode(benchmark::State& state, DeviceKind kind, std::size_t offset) {
  const Device& where = device(kind);
  const int blocks = static_cast<int>(state.range(0));
  const auto size_bytes = static_cast<std::size_t>(state.range(1));
  std::vector<DeviceBuffer> buffers;
  std::vector<const std::byte*> sources;
  for (int block = 0; block < blocks; ++block) {
    buffers.emplace_back(where, size_bytes + offset);
    buffers.back().upload(std::vector<std::byte>(size_bytes + offset, std::byte(block)));
    sources.push_back(buffers.back().data() + offset);
  }
  const DeviceBuffer parity(where, size_bytes + offset);
  for (auto _ : state) {
    xor_code(kind).combine(sources.data(), blocks, parity.data() + offset, size_bytes);
    where.synchronize();
  }
  const double data_bytes = static_cast<double>(size_bytes) * blocks;
  state.counters["data"] = benchmark::Counter(
      data_bytes, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
}

// Blocks of 16 KiB fit into the cache and blocks of 64 MiB do not.
void register_device(DeviceKind kind) {
  const std::string name = std::string("xor_encode/") + device(kind).name;
  for (const auto& [suffix, offset] : {std::pair("", 0), std::pair("_unaligned", 1)}) {
    benchmark::RegisterBenchmark((name + suffix).c_str(), encode, kind, offset)
        ->ArgNames({"k", "bytes"})
        ->Args({7, 1 << 14})
        ->Args({7, 1 << 26})
        ->UseRealTime();
  }
}

}  // namespace
}  // namespace windtunnel

int main(int argc, char** argv) {
  using windtunnel::DeviceKind;
  benchmark::Initialize(&argc, argv);
  windtunnel::register_device(DeviceKind::cpu);
  const std::string reason = windtunnel::device(DeviceKind::cuda).why_unusable();
  if (reason.empty()) {
    windtunnel::register_device(DeviceKind::cuda);
  } else {
    std::fprintf(stderr, "xor_encode/cuda left out: %s\n", reason.c_str());
  }
  benchmark::RunSpecifiedBenchmarks();
}
