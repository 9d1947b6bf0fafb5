// What the job runs on: nodes of one NodeSpec or of several pools, a fabric between them, shared
// storage. Plain values; the library (scenarios/library) fills them, each number with its origin.
//
// A GPU is called by the rank that runs on it. Which GPU of the job that is, numbered node by node,
// is `ranks`; where the job's nodes stand on the fabric is `places`: NICs, switches and what is
// slow or broken are numbered as the machine has them.
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

// NVIDIA's; what knows them only takes others for Ampere's time.
enum class GpuGeneration : std::uint8_t { pascal, volta, turing, ampere, hopper, blackwell };

struct GpuSpec {
  DECLARE_SPECIAL_MEMBERS(GpuSpec);
  std::string name;  // "h100"
  GpuGeneration generation = GpuGeneration::ampere;
  bool superchip = false;  // beside a processor of NVIDIA's own, Grace, that NVLink leads to
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

// How a byte gets from one GPU of a node to another.
enum class GpuPath : std::uint8_t {
  nvlink,
  pcie,  // up the GPU's PCIe link, over the node's host bridge, down the other's
};

struct NodeSpec {
  DECLARE_SPECIAL_MEMBERS(NodeSpec);
  std::string name;  // "dgx-h100"
  GpuSpec gpu;
  int gpus = 8;          // per node; all in one NVSwitch (or NVLink) domain
  Parameter nvlink_Bps;  // per GPU and direction (H100: 450e9)
  // Neighbours that are joined faster than the others of their node: the two dies of a MI250X.
  int package_gpus = 1;
  Parameter package_Bps;        // per GPU and direction, to those of its package
  int nics = 8;                 // compute NICs per node; GPU i uses NIC i * nics / gpus
  Parameter nic_Bps;            // per NIC and direction (NDR: 50e9)
  Parameter pcie_Bps;           // GPU to host, per GPU and direction (Gen5 x16: 64e9)
  Parameter host_memory_bytes;  // per node
  Parameter host_memory_Bps;    // per node
  Parameter cpu_cores;          // per node
  Parameter storage_nic_Bps;    // per node and direction, towards storage
  // Per node and direction, drives of its own: data sheets of data-centre NVMe drives (PCIe Gen4)
  // say 2.7 to 4.1 GB/s of sequential writing each.
  Parameter local_disk_Bps = {14e9, 7e9, 28e9, Origin::assumed, "four NVMe drives of 3.5 GB/s"};
  Parameter local_disk_bytes = {15.36e12, 7.68e12, 30.72e12, Origin::assumed,
                                "four NVMe drives of 3.84 TB"};
  GpuPath gpu_path = GpuPath::nvlink;
  Parameter
      host_bridge_Bps;  // pcie: of the node, all GPUs and both directions together; 0: no limit
  // What the root port of a GPU passes for it, both directions together, where it is less than the
  // GPU's own link: a port that GPUs share, each with its part. 0: no limit.
  Parameter root_port_Bps;
  double power_limit_W = 0;  // of a GPU, below its data sheet's; 0: that of the data sheet

  // A GPU's PCIe link per direction: what it gives while nothing comes back, or as much does.
  double pcie_one_way_Bps() const {
    return root_port_Bps.value > 0 ? std::min(pcie_Bps.value, root_port_Bps.value) : pcie_Bps.value;
  }
  double pcie_both_ways_Bps() const {
    return root_port_Bps.value > 0 ? std::min(pcie_Bps.value, root_port_Bps.value / 2)
                                   : pcie_Bps.value;
  }
  bool operator==(const NodeSpec&) const = default;
};

// Other jobs that restart when this one does, after a fault that struck them all, and read from the
// same storage.
struct StorageStorm {
  int nodes = 0;          // of those jobs
  double read_bytes = 0;  // by each of them
  double chance = 1;      // share of this job's restarts that they restart with
  bool operator==(const StorageStorm&) const = default;
};

struct StorageSpec {
  Parameter write_Bps;  // whole cluster
  Parameter read_Bps;
  // To open and commit.
  Parameter latency_s = {0.05, 0.05, 0.05, Origin::assumed, "default"};
  // The share of its bandwidth that the job's snapshots may take; advice keeps to it.
  double share = 0.1;
  double background = 0;  // share of its bandwidth that other jobs take, on average
  double startup_bytes =
      0;  // that each node reads at a restart: container image, index of the data
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

// A NIC of this node runs at `factor` of its bandwidth.
struct DegradedNic {
  int node = 0;  // of the machine
  int nic = 0;
  double factor = 1;
  bool operator==(const DegradedNic&) const = default;
};

// Nodes of one kind in a machine of several kinds, numbered behind those of the pools before it.
struct Pool {
  std::string name;
  int nodes = 1;
  NodeSpec node;
  double price_usd_per_gpu_s = 0;  // 0: as the job's
  // Pools of equal network reach each other by their NICs, others by CommonNetwork alone:
  // InfiniBand beside RoCE. Empty is a network as any other.
  std::string network;
  bool operator==(const Pool&) const = default;
};

// Ethernet, say, that nodes of pools with unlike networks talk over: without bottlenecks but each
// node's access.
struct CommonNetwork {
  Parameter node_Bps;   // per node and direction
  Parameter latency_s;  // beside that of its switches
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
  // [node of the job] -> node of the machine, each once; empty: its first nodes, in order.
  std::vector<int> places;
  RankMap ranks;            // on the job's GPUs
  int machine_nodes = 0;    // that the fabric joins; 0: those of the job
  NodeSpec node;            // where there are pools: `shared`, for what does not tell them apart
  std::vector<Pool> pools;  // empty: all nodes are `node`
  NodeSpec shared;          // what all of them have: shared_node()
  CommonNetwork common;     // where networks of pools differ
  // GPUs whose groups inside a replica are asked for; empty: all. They have one pool, `node`
  // (on_pool in models/plan/job.hpp).
  std::vector<GpuRange> part;
  FabricSpec fabric;
  StorageSpec storage;
  std::vector<SlowNode> slow_nodes;
  Jitter jitter;
  std::vector<DegradedNic> degraded_nics;

  int gpus() const { return nodes * node.gpus; }
  int node_of(int gpu) const { return ranks.gpu_of(gpu) / node.gpus; }
  int slot_of(int gpu) const { return ranks.gpu_of(gpu) % node.gpus; }  // in its node
  int rank_on(int of_node, int slot) const { return ranks.rank_on(of_node * node.gpus + slot); }
  // Returns how many ranks from this one on surely share its node.
  int run_of(int rank) const { return ranks.in_order() ? node.gpus - rank % node.gpus : 1; }
  int fabric_nodes() const { return machine_nodes > 0 ? machine_nodes : nodes; }
  int place_of(int node) const { return places.empty() ? node : places[node]; }
  // Whether the job has all of the machine and all nodes are alike.
  bool is_whole() const { return places.empty() && fabric_nodes() == nodes && pools.empty(); }
  // And ranks are in order: then what a GPU meets is arithmetic.
  bool in_order() const { return is_whole() && ranks.in_order(); }
  double slowdown_of(int gpu) const;  // by slow nodes
  // Whether a step is another one each time: stragglers in time, bursts of others' traffic.
  bool is_drawn() const;

  // Index of the pool that a node of the machine belongs to; -1: all nodes are alike.
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
  // The most of any node: NICs are numbered place * nics_per_node() + NIC of the node.
  int nics_per_node() const;
  // Bytes/s of all NICs of a node, of the nodes that have the most: what uplinks are made for.
  double widest_node() const;
  // Whether the bytes between two GPUs take the common network.
  bool networks_differ() const;
  bool apart(int gpu, int other) const;
  bool operator==(const Cluster&) const = default;
};

// What every node of some pools has: of each number the least, as a group of unlike nodes goes at
// the pace of the worst in every respect; the fewest NICs, which have together what those of the
// node have that has the least. All have as many GPUs, joined in the same way.
NodeSpec shared_node(const std::vector<Pool>& pools);

}  // namespace windtunnel
