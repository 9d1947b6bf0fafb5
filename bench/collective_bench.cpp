// Budget: a closed-form collective in 200 ns.
#include <benchmark/benchmark.h>

#include <numeric>

#include "models/collective.hpp"
#include "models/collective_steps.hpp"

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

void time_all_reduce(benchmark::State& state, const Setting& setting, CollectiveChoice choice) {
  const GroupShape shape = group_shape(setting.gpus, setting.cluster);
  double bytes = 1e6;
  for (auto _ : state) {
    bytes += 1;
    benchmark::DoNotOptimize(collective_cost(CollectiveKind::all_reduce, choice, shape, bytes,
                                             setting.cluster, setting.calibration));
  }
}

void closed_form(benchmark::State& state) {
  time_all_reduce(state, make_setting(static_cast<int>(state.range(0))),
                  CollectiveAlgorithm::automatic);
}
BENCHMARK(closed_form)->Arg(1)->Arg(128)->Arg(2048);

// One algorithm of all that reduce.
void closed_form_of(benchmark::State& state) {
  const auto algorithm = algorithms_of(CollectiveKind::all_reduce).at(state.range(0));
  state.SetLabel(to_string(algorithm));
  time_all_reduce(state, make_setting(128), algorithm);
}
BENCHMARK(closed_form_of)->DenseRange(0, 9);

// With a law of the network as the library states it: the algorithm and protocol are those that
// NCCL's tuner picks.
void closed_form_by_nccl(benchmark::State& state) {
  Setting setting = make_setting(static_cast<int>(state.range(0)));
  setting.cluster.node.gpu.name = "h100";
  NetworkLaw& law = setting.calibration.network;
  for (const NetworkLawField& field : network_law_fields()) law.*field.member = parameter(0.9);
  law.stated = true;
  law.tuner_bandwidth = parameter(0);
  law.tuner_release = parameter(28);
  law.ring_overlap = law.tree_overlap = law.nvls_overlap = parameter(0.7);
  law.slow_share = parameter(0.01);
  law.slow_log = parameter(0.3);
  time_all_reduce(state, setting, CollectiveAlgorithm::automatic);
}
BENCHMARK(closed_form_by_nccl)->Arg(1)->Arg(128)->Arg(2048);

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
