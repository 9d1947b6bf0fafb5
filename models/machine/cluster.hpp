// The machine that a job runs on: nodes of one NodeSpec or of several pools, the fabric between
// them, and shared storage. Plain values; the library (scenarios/library) fills them in, each
// number with its origin.
//
// Code refers to a GPU by the rank that runs on it. `ranks` maps ranks to the job's GPUs, which are
// numbered node by node. `places` maps the job's nodes to the nodes of the machine: NICs, switches
// and slow or broken parts have the machine's numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "models/base/origin.hpp"
#include "models/base/special_members.hpp"
#include "models/machine/fabric.hpp"
#include "models/machine/jitter.hpp"
#include "models/machine/rank_map.hpp"

namespace windtunnel {

// NVIDIA's generations. GPUs of other vendors are treated as Ampere where a generation is needed.
enum class GpuGeneration : std::uint8_t { pascal, volta, turing, ampere, hopper, blackwell };

struct GpuSpec {
  DECLARE_SPECIAL_MEMBERS(GpuSpec);
  std::string name;  // "h100"
  GpuGeneration generation = GpuGeneration::ampere;
  bool superchip = false;  // connected by NVLink to a Grace CPU
  Parameter fp32_flops;    // dense peak, FLOP/s, no sparsity; 0 = not supported
  Parameter tf32_flops;
  Parameter fp16_flops;
  Parameter bf16_flops;
  Parameter fp8_flops;
  Parameter fp4_flops;
  Parameter memory_bytes;  // usable capacity as sold (H100: 80e9)
  Parameter memory_Bps;    // HBM bandwidth, peak
  Parameter sms;           // streaming multiprocessors enabled
  Parameter l2_bytes;
  bool operator==(const GpuSpec&) const = default;
};

// How bytes travel between two GPUs of a node.
enum class GpuPath : std::uint8_t {
  nvlink,
  pcie,  // up the GPU's PCIe link, over the node's host bridge, down the other GPU's link
};

struct NodeSpec {
  DECLARE_SPECIAL_MEMBERS(NodeSpec);
  std::string name;  // "dgx-h100"
  GpuSpec gpu;
  int gpus = 8;          // per node; all in one NVSwitch (or NVLink) domain
  Parameter nvlink_Bps;  // per GPU and direction (H100: 450e9)
  // Neighbours with a faster connection than to the rest of the node: the two dies of a MI250X.
  int package_gpus = 1;
  Parameter package_Bps;        // per GPU and direction, to the others of its package
  int nics = 8;                 // compute NICs per node; GPU i uses NIC i * nics / gpus
  Parameter nic_Bps;            // per NIC and direction (NDR: 50e9)
  Parameter pcie_Bps;           // GPU to host, per GPU and direction (Gen5 x16: 64e9)
  Parameter host_memory_bytes;  // per node
  Parameter host_memory_Bps;    // per node
  Parameter cpu_cores;          // per node
  Parameter storage_nic_Bps;    // per node and direction, towards storage
  // Node-local drives, per node and direction. Data sheets of data-centre NVMe drives (PCIe Gen4)
  // give 2.7 to 4.1 GB/s of sequential writing per drive.
  Parameter local_disk_Bps = {14e9, 7e9, 28e9, Origin::assumed, "four NVMe drives of 3.5 GB/s"};
  Parameter local_disk_bytes = {15.36e12, 7.68e12, 30.72e12, Origin::assumed,
                                "four NVMe drives of 3.84 TB"};
  GpuPath gpu_path = GpuPath::nvlink;
  Parameter host_bridge_Bps;  // pcie: per node, all GPUs and both directions together; 0: no limit
  // A GPU's share of the root port that it shares with other GPUs, both directions together, if
  // that is less than its own link. 0: no limit.
  Parameter root_port_Bps;
  double power_limit_W = 0;  // of a GPU, if below its data sheet's limit; 0: as in the data sheet

  // Bandwidth of a GPU's PCIe link per direction, with traffic in one direction and in both.
  double pcie_one_way_Bps() const {
    return root_port_Bps.value > 0 ? std::min(pcie_Bps.value, root_port_Bps.value) : pcie_Bps.value;
  }
  double pcie_both_ways_Bps() const {
    return root_port_Bps.value > 0 ? std::min(pcie_Bps.value, root_port_Bps.value / 2)
                                   : pcie_Bps.value;
  }
  bool operator==(const NodeSpec&) const = default;
};

// Other jobs that restart together with this one, after a common fault, and read from the same
// storage.
struct StorageStorm {
  int nodes = 0;          // total of those jobs
  double read_bytes = 0;  // by each of these nodes
  double chance = 1;      // share of this job's restarts in which they restart too
  bool operator==(const StorageStorm&) const = default;
};

struct StorageSpec {
  Parameter write_Bps;  // whole cluster
  Parameter read_Bps;
  // Time to open and commit a file.
  Parameter latency_s = {0.05, 0.05, 0.05, Origin::assumed, "default"};
  // The share of bandwidth that the job's snapshots may use; advice on intervals respects it.
  double share = 0.1;
  double background = 0;     // share of bandwidth that other jobs use, on average
  double startup_bytes = 0;  // read by each node at a restart: container image, index of the data
  StorageStorm storm;

  double left_of(const Parameter& bandwidth) const { return bandwidth.value * (1 - background); }
  bool operator==(const StorageSpec&) const = default;
};

// Computes (and copies) take `slowdown` times as long on this node.
struct SlowNode {
  int node = 0;  // of the machine
  double slowdown = 1;
  bool operator==(const SlowNode&) const = default;
};

// A NIC of this node has only the share `factor` of its bandwidth.
struct DegradedNic {
  int node = 0;  // of the machine
  int nic = 0;
  double factor = 1;
  bool operator==(const DegradedNic&) const = default;
};

// Nodes of one kind in a machine of several kinds. Numbers of nodes go on from pool to pool.
struct Pool {
  std::string name;
  int nodes = 1;
  NodeSpec node;
  double price_usd_per_gpu_s = 0;  // 0: the job's price
  // Name of the pool's network. Pools with the same name reach each other by their NICs, others (as
  // InfiniBand and RoCE) only over CommonNetwork. Empty is a name like any other.
  std::string network;
  bool operator==(const Pool&) const = default;
};

// A network, Ethernet for example, that joins nodes of pools with different networks. Its only
// bottleneck is each node's access.
struct CommonNetwork {
  Parameter node_Bps;   // per node and direction
  Parameter latency_s;  // in addition to that of its switches
  bool operator==(const CommonNetwork&) const = default;
};

struct GpuRange {
  int first = 0;
  int count = 0;
  bool operator==(const GpuRange&) const = default;
};

struct Cluster {
  DECLARE_SPECIAL_MEMBERS(Cluster);
  int nodes = 1;  // of the job
  // [node of the job] -> node of the machine, all different; empty: the machine's first nodes.
  std::vector<int> places;
  RankMap ranks;            // on the job's GPUs
  int machine_nodes = 0;    // nodes that the fabric joins; 0: only those of the job
  NodeSpec node;            // with pools: equal to `shared`, for code that ignores pools
  std::vector<Pool> pools;  // empty: all nodes are `node`
  NodeSpec shared;          // what all nodes have in common: shared_node()
  CommonNetwork common;     // if pools are in different networks
  // Restricts questions about groups inside a replica to these GPUs, which are in one pool with
  // node type `node` (on_pool in models/plan/job.hpp); empty: all GPUs.
  std::vector<GpuRange> part;
  FabricSpec fabric;
  StorageSpec storage;
  std::vector<SlowNode> slow_nodes;
  Jitter jitter;
  std::vector<DegradedNic> degraded_nics;

  int gpus() const { return nodes * node.gpus; }
  int node_of(int gpu) const { return ranks.gpu_of(gpu) / node.gpus; }
  int slot_of(int gpu) const { return ranks.gpu_of(gpu) % node.gpus; }  // GPU's index in its node
  int rank_on(int of_node, int slot) const { return ranks.rank_on(of_node * node.gpus + slot); }
  // A lower bound on how many consecutive ranks from this one on share its node.
  int run_of(int rank) const { return ranks.in_order() ? node.gpus - rank % node.gpus : 1; }
  int fabric_nodes() const { return machine_nodes > 0 ? machine_nodes : nodes; }
  int place_of(int node) const { return places.empty() ? node : places[node]; }
  // Whether the job uses the whole machine and all nodes are alike.
  bool is_whole() const { return places.empty() && fabric_nodes() == nodes && pools.empty(); }
  // Whether is_whole() holds and ranks are in order, so that the links of a GPU follow by
  // arithmetic.
  bool in_order() const { return is_whole() && ranks.in_order(); }
  double slowdown_of(int gpu) const;  // by slow nodes
  // Whether step times vary at random: stragglers, or bursts of other jobs' traffic.
  bool is_drawn() const;

  // Index of the pool of a node of the machine; -1: all nodes are alike.
  int pool_of_place(int place) const;
  int pool_of_node(int of_node) const {
    return pools.empty() ? -1 : pool_of_place(place_of(of_node));
  }
  int pool_of(int gpu) const { return pool_of_node(node_of(gpu)); }
  const NodeSpec& node_of_pool(int pool) const {
    if (pool >= 0) return pools[pool].node;
    return pools.empty() ? node : shared;
  }
  bool in_part(int gpu) const;
  const NodeSpec& spec_of(int of_node) const {
    return pools.empty() ? node : node_of_pool(pool_of_node(of_node));
  }
  // The largest number of NICs of a node: they are numbered place * nics_per_node() + NIC in it.
  int nics_per_node() const;
  // Largest total bandwidth of a node's NICs, in bytes/s: uplinks are sized for it.
  double widest_node() const;
  // Whether pools are in different networks; and whether these two GPUs are, so that traffic
  // between them takes the common network.
  bool networks_differ() const;
  bool apart(int gpu, int other) const;
  bool operator==(const Cluster&) const = default;
};

// A node with what every node of these pools has: the minimum of each number, since a group of
// unlike nodes runs at the pace of the worst in every respect. It has the smallest number of NICs,
// with the smallest total bandwidth. All nodes have the same number of GPUs, connected in the same
// way.
NodeSpec shared_node(const std::vector<Pool>& pools);

}  // namespace windtunnel
