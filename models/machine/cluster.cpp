#include "models/machine/cluster.hpp"

#include <algorithm>
#include <array>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr std::array kGpuNumbers = {
    &GpuSpec::fp32_flops, &GpuSpec::tf32_flops, &GpuSpec::fp16_flops,   &GpuSpec::bf16_flops,
    &GpuSpec::fp8_flops,  &GpuSpec::fp4_flops,  &GpuSpec::memory_bytes, &GpuSpec::memory_Bps,
    &GpuSpec::sms,        &GpuSpec::l2_bytes};

constexpr std::array kNodeNumbers = {
    &NodeSpec::nvlink_Bps,        &NodeSpec::package_Bps,     &NodeSpec::pcie_Bps,
    &NodeSpec::host_memory_bytes, &NodeSpec::host_memory_Bps, &NodeSpec::cpu_cores,
    &NodeSpec::storage_nic_Bps,   &NodeSpec::local_disk_Bps,  &NodeSpec::local_disk_bytes};

template <class Spec, class Numbers>
void take_least(const Spec& other, const Numbers& numbers, Spec& spec) {
  for (const auto number : numbers) {
    if ((other.*number).value < (spec.*number).value) spec.*number = other.*number;
  }
}

void add_name(const std::string& other, std::string& name) {
  if (name != other) name += " + " + other;
}

}  // namespace

DEFINE_SPECIAL_MEMBERS(FabricSpec);

DEFINE_SPECIAL_MEMBERS(GpuSpec);
DEFINE_SPECIAL_MEMBERS(NodeSpec);
DEFINE_SPECIAL_MEMBERS(Cluster);

double Cluster::slowdown_of(int gpu) const {
  double slowdown = 1;
  for (const SlowNode& slow : slow_nodes) {
    if (slow.node == place_of(node_of(gpu))) slowdown *= slow.slowdown;
  }
  return slowdown;
}

bool Cluster::in_part(int gpu) const {
  return part.empty() || std::ranges::any_of(part, [&](const GpuRange& range) {
           return range.first <= gpu && gpu < range.first + range.count;
         });
}

int Cluster::pool_of_place(int place) const {
  if (pools.empty()) return -1;
  int end = 0;
  for (int pool = 0; pool < std::ssize(pools); ++pool) {
    end += pools[pool].nodes;
    if (place < end) return pool;
  }
  CHECK(false, "node {} of {}", place, end);
  return -1;
}

int Cluster::nics_per_node() const {
  int most = node.nics;
  for (const Pool& pool : pools) most = std::max(most, pool.node.nics);
  return most;
}

double Cluster::widest_node() const {
  const auto of = [](const NodeSpec& spec) { return std::max(1, spec.nics) * spec.nic_Bps.value; };
  double most_Bps = of(node);
  for (const Pool& pool : pools) most_Bps = std::max(most_Bps, of(pool.node));
  return most_Bps;
}

bool Cluster::is_drawn() const {
  return jitter.active() || std::ranges::any_of(fabric.background, &BackgroundLoad::in_bursts);
}

bool Cluster::networks_differ() const {
  return std::ranges::any_of(
      pools, [&](const Pool& pool) { return pool.network != pools.front().network; });
}

bool Cluster::apart(int gpu, int other) const {
  return !pools.empty() && pools[pool_of(gpu)].network != pools[pool_of(other)].network;
}

NodeSpec shared_node(const std::vector<Pool>& pools) {
  NodeSpec shared = pools.front().node;
  Parameter all_nics_Bps = shared.nic_Bps;
  all_nics_Bps.value *= shared.nics;
  for (const Pool& pool : pools) {
    const NodeSpec& node = pool.node;
    take_least(node, kNodeNumbers, shared);
    take_least(node.gpu, kGpuNumbers, shared.gpu);
    add_name(node.name, shared.name);
    add_name(node.gpu.name, shared.gpu.name);
    shared.gpu.generation = std::min(shared.gpu.generation, node.gpu.generation);
    shared.gpu.superchip &= node.gpu.superchip;
    shared.nics = std::min(shared.nics, node.nics);
    if (node.nics * node.nic_Bps.value < all_nics_Bps.value) {
      all_nics_Bps = node.nic_Bps;
      all_nics_Bps.value *= node.nics;
    }
    for (const auto limit : {&NodeSpec::host_bridge_Bps, &NodeSpec::root_port_Bps}) {
      const double limit_Bps = (node.*limit).value;
      const double least_Bps = (shared.*limit).value;
      // 0 is no limit.
      if (limit_Bps > 0 && (least_Bps == 0 || limit_Bps < least_Bps)) shared.*limit = node.*limit;
    }
  }
  shared.nic_Bps = all_nics_Bps;
  shared.nic_Bps.value /= std::max(1, shared.nics);
  return shared;
}

}  // namespace windtunnel
