// A closed-form collective may take 200 ns if sizes come in no order.
#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <numeric>

#include "models/network/collectives/collective.hpp"
#include "models/network/collectives/collective_law.hpp"
#include "models/network/groups/collective_steps.hpp"

namespace windtunnel {
namespace {

Parameter parameter(double value) {
  return {value, value, value, Origin::spec, "benchmark"};
}

struct Setting {
  Cluster cluster;
  Calibration calibration;
  std::vector<std::int32_t> gpus;
};

Setting make_setting(int nodes) {
  Setting setting;
  setting.cluster.nodes = nodes;
  setting.cluster.node.nvlink_Bps = parameter(450e9);
  setting.cluster.node.nic_Bps = parameter(50e9);
  setting.cluster.fabric.nodes_per_pod = 16;
  setting.calibration.nvlink_efficiency = parameter(0.85);
  setting.calibration.nvlink_latency_s = parameter(1e-6);
  setting.calibration.nic_efficiency = parameter(0.9);
  setting.calibration.nic_latency_s = parameter(5e-6);
  setting.calibration.collective_launch_s = parameter(4e-6);
  setting.cluster.node.pcie_Bps = parameter(64e9);
  setting.cluster.node.host_memory_Bps = parameter(400e9);
  setting.calibration.pcie_efficiency = parameter(0.8);
  setting.calibration.host_memory_efficiency = parameter(0.7);
  setting.gpus.resize(setting.cluster.gpus());
  std::iota(setting.gpus.begin(), setting.gpus.end(), 0);
  return setting;
}

// Sizes from 256 bytes to 4 GiB come in no order, so that the branch predictor cannot learn them.
std::array<double, 1024> make_sizes() {
  std::array<double, 1024> sizes{};
  double place = 0;
  for (double& size : sizes) {
    place = std::fmod(place + 0.6180339887498949, 1);
    size = std::floor(std::exp2(8 + 24 * place));
  }
  return sizes;
}

// `cost_of` gets the size in bytes.
template <typename Cost>
void time_sizes(benchmark::State& state, const Cost& cost_of) {
  const std::array<double, 1024> sizes = make_sizes();
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(cost_of(sizes[i++ % sizes.size()]));
}

void time_all_reduce(benchmark::State& state, const Setting& setting, CollectiveChoice choice) {
  const GroupShape shape = group_shape(setting.gpus, setting.cluster);
  time_sizes(state, [&](double bytes) {
    return collective_cost(CollectiveKind::all_reduce, choice, shape, bytes, setting.cluster,
                           setting.calibration);
  });
}

void closed_form(benchmark::State& state) {
  time_all_reduce(state, make_setting(static_cast<int>(state.range(0))),
                  CollectiveAlgorithm::automatic);
}
BENCHMARK(closed_form)->Arg(1)->Arg(128)->Arg(2048);

// Measures one of the algorithms that can run an all-reduce.
void closed_form_of(benchmark::State& state) {
  const auto algorithm = algorithms_of(CollectiveKind::all_reduce).at(state.range(0));
  state.SetLabel(to_string(algorithm));
  time_all_reduce(state, make_setting(128), algorithm);
}
BENCHMARK(closed_form_of)->DenseRange(0, 9);

// With a stated law of the network, NCCL's tuner picks algorithm and protocol.
Setting make_setting_by_nccl(int nodes) {
  Setting setting = make_setting(nodes);
  setting.cluster.node.gpu.generation = GpuGeneration::hopper;
  InterconnectLaw& law = setting.calibration.network;
  for (const InterconnectLawField& field : interconnect_law_fields())
    law.*field.member = parameter(0.9);
  law.stated = true;
  law.tuner_bandwidth = parameter(0);
  law.tuner_release = parameter(28);
  law.ring_overlap = law.tree_overlap = law.nvls_overlap = parameter(0.7);
  law.slow_share = parameter(0.01);
  law.slow_log = parameter(0.3);
  return setting;
}

// The law is made once and evaluated at many sizes.
void closed_form_by_nccl(benchmark::State& state) {
  const Setting setting = make_setting_by_nccl(static_cast<int>(state.range(0)));
  const CollectiveLaw law(CollectiveKind::all_reduce, {},
                          group_shape(setting.gpus, setting.cluster), setting.cluster,
                          setting.calibration);
  time_sizes(state, [&](double bytes) { return collective_cost(law, bytes); });
}
BENCHMARK(closed_form_by_nccl)->Arg(1)->Arg(128)->Arg(2048);

// Each evaluation makes NCCL's table anew.
void closed_form_by_nccl_once(benchmark::State& state) {
  time_all_reduce(state, make_setting_by_nccl(static_cast<int>(state.range(0))), {});
}
BENCHMARK(closed_form_by_nccl_once)->Arg(1)->Arg(128)->Arg(2048);

void edges(benchmark::State& state) {
  const Setting setting = make_setting(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(collective_flows(CollectiveKind::all_reduce,
                                              CollectiveAlgorithm::automatic, setting.gpus, 1e9,
                                              setting.cluster, setting.calibration));
  }
}
BENCHMARK(edges)->Arg(128)->Arg(2048)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace windtunnel

BENCHMARK_MAIN();
