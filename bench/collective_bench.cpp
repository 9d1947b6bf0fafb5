// Budget: a closed-form collective in 200 ns.
#include <benchmark/benchmark.h>

#include <numeric>

#include "models/collective.hpp"

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
  setting.gpus.resize(setting.cluster.gpus());
  std::iota(setting.gpus.begin(), setting.gpus.end(), 0);
  return setting;
}

void closed_form(benchmark::State& state) {
  const Setting setting = make_setting(static_cast<int>(state.range(0)));
  const GroupShape shape = group_shape(setting.gpus, setting.cluster);
  double bytes = 1e6;
  for (auto _ : state) {
    bytes += 1;
    benchmark::DoNotOptimize(collective_cost(CollectiveKind::all_reduce,
                                             CollectiveAlgorithm::automatic, shape, bytes,
                                             setting.cluster, setting.calibration));
  }
}
BENCHMARK(closed_form)->Arg(1)->Arg(128)->Arg(2048);

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
