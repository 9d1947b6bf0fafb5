// What kernels on a GPU are held to beside their bandwidth (kernel_bench has that): an exact top-k
// of 2^28 floats, k = 1 %, against two reads at the speed of a copy and against a sort by CUB;
// products by the fastest of the usual number of cuBLASLt's proposals against that of all of them.
// Times are those of graph replays. Nothing is measured where no GPU is.
#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/cub_sort.hpp"
#include "kernels/gemm.hpp"
#include "kernels/stream_ops.hpp"
#include "kernels/top_k.hpp"
#include "models/base/quantile.hpp"
#include "models/base/random.hpp"

namespace windtunnel {
namespace {

constexpr std::size_t kElements = std::size_t{1} << 28;
constexpr std::size_t kBytes = kElements * sizeof(float);
constexpr int kAllProposals = 512;

const Device& cuda() {
  return device(DeviceKind::cuda);
}

// Magnitudes of a Gaussian; the sorts take them as they are, the top-k looks at magnitudes anyway.
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

// Median of some replays of two runs each.
double median_s(const std::function<void()>& work) {
  constexpr int kReplays = 15;
  constexpr int kRuns = 2;
  work();
  cuda().synchronize();
  std::vector<double> times;
  for (int i = 0; i < kReplays; ++i) times.push_back(cuda().time_s(work, kRuns) / kRuns);
  return quantile(times, 0.5);
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

// A copy moves as many bytes as two reads.
void exact_top_k(benchmark::State& state) {
  report(state, top_k_s(), {{"times_two_reads", top_k_s() / copy_s()}});
}

template <std::function<void()> (*kSort)(const float*, std::size_t)>
void cub_sort(benchmark::State& state) {
  const double sort_s = median_s(kSort(magnitudes(), kElements));
  report(state, sort_s, {{"times_top_k", sort_s / top_k_s()}});
}

// Numbers of 1 to 2 of that type: one's bits, and random ones in the mantissa.
std::vector<std::byte> numbers(GemmType type, std::size_t elements) {
  struct Form {
    std::uint32_t one;
    int mantissa;  // bits
  };
  const std::map<GemmType, Form> forms = {{GemmType::fp32, {0x3f800000, 23}},
                                          {GemmType::tf32, {0x3f800000, 23}},
                                          {GemmType::fp16, {0x3c00, 10}},
                                          {GemmType::bf16, {0x3f80, 7}},
                                          {GemmType::fp8, {0x38, 3}}};
  const Form form = forms.at(type);
  const std::size_t size = gemm_in_bytes(type);
  RandomStream random(1, RandomPurpose::test, 1);
  std::vector<std::byte> bytes(elements * size);
  for (std::size_t i = 0; i < elements; ++i) {
    const std::uint32_t bits =
        form.one | static_cast<std::uint32_t>(random.below(std::uint64_t{1} << form.mantissa));
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
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
  a.upload(numbers(type, elements(m, k)));
  b.upload(numbers(type, elements(k, n)));
  work.a = a.data();
  work.b = b.data();
  work.c = c.data();
  const auto best_s = [&](int proposals) {
    work.proposals = proposals;
    return median_s(gemm(DeviceKind::cuda).prepared(work));
  };
  const double usual_s = best_s(kUsualProposals);
  const double first_s = best_s(1);
  const double all_s = best_s(kAllProposals);
  report(state, usual_s,
         {{"FLOP/s", 2.0 * m * n * k / usual_s},
          {"times_best", usual_s / all_s},
          {"first_times_best", first_s / all_s}});
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
  const auto add = [](const char* name, auto* function) {
    benchmark::RegisterBenchmark(name, function)->UseManualTime()->Iterations(1);
  };
  add("copy/2^28", copy);
  add("top-k/2^28", exact_top_k);
  add("cub-sort-keys/2^28", cub_sort<cub_sorted_keys>);
  add("cub-sort-pairs/2^28", cub_sort<cub_sorted_pairs>);
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
