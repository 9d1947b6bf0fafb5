// Measures whether kernels on a GPU reach their targets. The bytes per second that a kernel must
// move (models/calibration/kernel_work.hpp) are compared with a copy's rate; an exact top-k of 2^28
// floats, k = 1 %, with two reads at a copy's speed and with a sort by CUB; a product by the
// fastest of kUsualProposals algorithms with the fastest of all that cuBLASLt proposes. Times are
// those of graph replays. Without a GPU nothing is measured.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/cub_sort.hpp"
#include "kernels/compression/top_k.hpp"
#include "kernels/layer/stream_ops.hpp"
#include "kernels/product/gemm.hpp"
#include "models/base/quantile.hpp"
#include "models/base/random.hpp"
#include "validate/harness/timing/kernel_runner.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kElements = std::size_t{1} << 28;
constexpr std::size_t kBytes = kElements * sizeof(float);
constexpr int kAllProposals = 512;

const Device& cuda() {
  return device(DeviceKind::cuda);
}

// The values are magnitudes of a Gaussian, so that a sort by value gives the same order as top-k,
// which compares magnitudes.
const float* magnitudes() {
  static const DeviceBuffer buffer = [] {
    RandomStream random(1, RandomPurpose::test, 0);
    std::vector<std::byte> bytes(kBytes);
    auto* const values = reinterpret_cast<float*>(bytes.data());
    for (std::size_t i = 0; i < kElements; ++i) {
      values[i] = static_cast<float>(std::abs(random.normal()));
    }
    DeviceBuffer filled(cuda(), kBytes);
    filled.upload(bytes);
    return filled;
  }();
  return reinterpret_cast<const float*>(buffer.data());
}

// Returns each work's median time. The works are replayed in turn, so that a change of the clock
// affects all of them. A replay has at least two runs and takes about a millisecond.
std::vector<double> medians_s(const std::vector<std::function<void()>>& works) {
  constexpr int kReplays = 15;
  constexpr double kReplay_s = 1e-3;
  std::vector<int> runs;
  for (const std::function<void()>& work : works) {
    work();
    runs.push_back(static_cast<int>(std::max(2.0, kReplay_s / cuda().time_s(work, 1))));
  }
  std::vector<std::vector<double>> times(works.size());
  for (int i = 0; i < kReplays; ++i) {
    for (std::size_t w = 0; w < works.size(); ++w) {
      times[w].push_back(cuda().time_s(works[w], runs[w]) / runs[w]);
    }
  }
  std::vector<double> medians;
  for (const std::vector<double>& of_work : times) medians.push_back(median(of_work));
  return medians;
}

double median_s(const std::function<void()>& work) {
  return medians_s({work}).front();
}

double copy_s() {
  static const double seconds = [] {
    const DeviceBuffer from(cuda(), kBytes);
    const DeviceBuffer to(cuda(), kBytes);
    return median_s([&] { stream_ops(DeviceKind::cuda).copy(to.data(), from.data(), kBytes); });
  }();
  return seconds;
}

using Counters = std::map<std::string, double>;

void report(benchmark::State& state, double seconds, const Counters& counters) {
  for (auto _ : state) state.SetIterationTime(seconds);
  for (const auto& [name, value] : counters) state.counters[name] = value;
}

void copy(benchmark::State& state) {
  report(state, copy_s(), {{"bytes_per_second", 2.0 * kBytes / copy_s()}});
}

double top_k_s() {
  static const double seconds = [] {
    const TopK& kernels = top_k(DeviceKind::cuda);
    const std::size_t k = kElements / 100;
    const DeviceBuffer workspace(cuda(), kernels.workspace_bytes(kElements));
    const DeviceBuffer indices(cuda(), k * sizeof(std::uint32_t));
    const DeviceBuffer values(cuda(), k * sizeof(float));
    return median_s([&] {
      kernels.select(magnitudes(), kElements, k, workspace.data(),
                     reinterpret_cast<std::uint32_t*>(indices.data()),
                     reinterpret_cast<float*>(values.data()));
    });
  }();
  return seconds;
}

// The rate of a Reed-Solomon code counts data and parity.
struct Target {
  const char* work;
  double share;  // of a copy's rate, in bytes per second that the work must read and write
};

constexpr std::array<Target, 14> kTargets = {{{"sign-pack elements=268435456", 0.90},
                                              {"quantise-int8 elements=268435456", 0.90},
                                              {"quantise-int4 elements=268435456", 0.90},
                                              {"quantise-fp8 elements=268435456", 0.90},
                                              {"xor k=2 m=1 bytes=268435456", 0.90},
                                              {"xor k=4 m=1 bytes=268435456", 0.90},
                                              {"xor k=8 m=1 bytes=268435456", 0.90},
                                              {"ternary elements=268435456", 0.80},
                                              {"low-rank m=16384 n=16384 k=4", 0.80},
                                              {"low-rank m=16384 n=16384 k=16", 0.80},
                                              {"low-rank m=16384 n=16384 k=32", 0.80},
                                              {"rs-encode k=8 m=2 bytes=268435456", 0.70},
                                              {"rs-encode k=8 m=4 bytes=268435456", 0.55},
                                              {"rs-encode k=10 m=4 bytes=268435456", 0.60}}};

void moves(benchmark::State& state, const Target& target) {
  const KernelSteps steps = parse_kernel_steps(target.work);
  const std::string reason = why_not_runnable(steps, cuda());
  if (!reason.empty()) {
    state.SkipWithError(reason.c_str());
    return;
  }
  const double bytes = kernel_kind(steps[0][0].kernel).bytes(steps[0][0]);
  const double seconds =
      median_s(timed_work(steps, SampleRole::fit, CacheState::warm, cuda()).prepare());
  const double share = bytes / seconds / (2.0 * kBytes / copy_s());
  report(state, seconds,
         {{"bytes_per_second", bytes / seconds}, {"of_copy", share}, {"target", target.share}});
  state.SetLabel(share >= target.share ? "met" : "missed");
}

// A copy moves as many bytes as two reads.
void exact_top_k(benchmark::State& state) {
  report(state, top_k_s(), {{"times_two_reads", top_k_s() / copy_s()}});
}

template <std::function<void()> (*kSort)(const float*, std::size_t)>
void cub_sort(benchmark::State& state) {
  const double sort_s = median_s(kSort(magnitudes(), kElements));
  report(state, sort_s, {{"times_top_k", sort_s / top_k_s()}});
}

void product(benchmark::State& state, GemmType type, int m, int n, int k) {
  GemmWork work;
  work.type = type;
  work.m = m;
  work.n = n;
  work.k = k;
  const auto elements = [](int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  };
  DeviceBuffer a(cuda(), elements(m, k) * gemm_in_bytes(type));
  DeviceBuffer b(cuda(), elements(k, n) * gemm_in_bytes(type));
  const DeviceBuffer c(cuda(), elements(m, n) * gemm_out_bytes(type));
  a.upload(gemm_numbers(type, elements(m, k)));
  b.upload(gemm_numbers(type, elements(k, n)));
  work.a = a.data();
  work.b = b.data();
  work.c = c.data();
  std::vector<std::function<void()>> works;
  for (const int proposals : {kUsualProposals, 1, kAllProposals}) {
    work.proposals = proposals;
    works.push_back(gemm(DeviceKind::cuda).prepared(work));
  }
  const std::vector<double> times = medians_s(works);
  report(state, times[0],
         {{"FLOP/s", 2.0 * m * n * k / times[0]},
          {"times_best", times[0] / times[2]},
          {"first_times_best", times[1] / times[2]}});
}

void register_products() {
  struct Type {
    GemmType type;
    const char* name;
  };
  constexpr std::array<Type, 5> kTypes = {{{GemmType::bf16, "bf16"},
                                           {GemmType::fp16, "fp16"},
                                           {GemmType::tf32, "tf32"},
                                           {GemmType::fp8, "fp8"},
                                           {GemmType::fp32, "fp32"}}};
  constexpr std::array<std::array<int, 3>, 4> kShapes = {
      {{8192, 8192, 8192}, {4096, 4096, 4096}, {1024, 1024, 1024}, {4096, 14336, 4096}}};
  for (const Type& type : kTypes) {
    const std::string reason = gemm(DeviceKind::cuda).why_unusable(type.type);
    if (!reason.empty()) {
      std::fprintf(stderr, "%s products left out: %s\n", type.name, reason.c_str());
      continue;
    }
    for (const auto& [m, n, k] : kShapes) {
      const std::string name = std::string("gemm/") + type.name + "/" + std::to_string(m) + "x" +
                               std::to_string(n) + "x" + std::to_string(k);
      benchmark::RegisterBenchmark(name.c_str(), product, type.type, m, n, k)
          ->UseManualTime()
          ->Iterations(1);
    }
  }
}

void register_all() {
  const auto add = [](const char* name, const auto& function) {
    benchmark::RegisterBenchmark(name, function)->UseManualTime()->Iterations(1);
  };
  add("copy/2^28", copy);
  add("top-k/2^28", exact_top_k);
  add("cub-sort-keys/2^28", cub_sort<cub_sorted_keys>);
  add("cub-sort-pairs/2^28", cub_sort<cub_sorted_pairs>);
  for (const Target& target : kTargets)
    add(target.work, [&target](auto& state) { moves(state, target); });
  register_products();
}

}  // namespace
}  // namespace windtunnel

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const std::string reason = windtunnel::device(windtunnel::DeviceKind::cuda).why_unusable();
  if (!reason.empty()) {
    std::fprintf(stderr, "nothing measured: %s\n", reason.c_str());
    return 0;
  }
  windtunnel::register_all();
  benchmark::RunSpecifiedBenchmarks();
}
