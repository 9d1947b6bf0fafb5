// What the job runs on: nodes of one NodeSpec, a fabric between them, shared storage. Plain values;
// the library (scenarios/library) fills them, each number with its origin.
#pragma once

#include <string>
#include <vector>

#include "models/base/origin.hpp"

namespace windtunnel {

struct GpuSpec {
  std::string name;      // "h100"
  Parameter fp32_flops;  // dense peak, FLOP/s, no sparsity; 0 = not supported
  Parameter tf32_flops;
  Parameter fp16_flops;
  Parameter bf16_flops;
  Parameter fp8_flops;
  Parameter fp4_flops;
  Parameter memory_bytes;  // usable capacity as sold (H100: 80e9)
  Parameter memory_Bps;    // HBM bandwidth, peak
  Parameter sms;           // streaming multiprocessors enabled
  Parameter l2_bytes;
};

struct NodeSpec {
  std::string name;  // "dgx-h100"
  GpuSpec gpu;
  int gpus = 8;                 // per node; all in one NVSwitch (or NVLink) domain
  Parameter nvlink_Bps;         // per GPU and direction (H100: 450e9)
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
};

enum class Topology {
  rail_fat_tree,  // NIC i of every node of a pod hangs on rail i; rails join above the pod
  fat_tree,       // all NICs of a pod share one leaf level; pods join above it
};

// Bus bandwidth (nccl-tests' busbw, bytes per second) of one group over all GPUs of the job, where
// somebody measured it; 0: not measured. It bounds what the NICs of a node deliver to a collective
// of that kind: congestion, routing and the transport beneath NCCL are in it. A group over fewer
// nodes is bound in proportion less: where the bound is felt, measured bandwidths fall with the
// number of nodes (306, 160, 95 and 27 GB/s over 2, 4, 8 and 32 nodes in the sweep that Rapid-LLM
// keeps, github.com/gkarfakis19/Rapid-LLM 317a2cb).
struct MeasuredBus {
  double all_reduce_Bps = 0;
  double all_gather_Bps = 0;
  double reduce_scatter_Bps = 0;
  Origin origin = Origin::measured;
};

struct FabricSpec {
  Topology topology = Topology::rail_fat_tree;
  int nodes_per_pod = 0;            // 0: one pod holds all
  double pod_oversubscription = 1;  // NIC bandwidth of a pod / bandwidth of its uplinks
  Parameter hop_latency_s;          // one switch traversal with its cables
  MeasuredBus measured;
};

struct StorageSpec {
  Parameter write_Bps;  // whole cluster
  Parameter read_Bps;
  Parameter latency_s;  // to open and commit
};

// Computes (and copies) take `slowdown` times as long on this node.
struct SlowNode {
  int node = 0;
  double slowdown = 1;
};

// A NIC of this node runs at `factor` of its bandwidth.
struct DegradedNic {
  int node = 0;
  int nic = 0;
  double factor = 1;
};

struct Cluster {
  int nodes = 1;
  NodeSpec node;
  FabricSpec fabric;
  StorageSpec storage;
  std::vector<SlowNode> slow_nodes;
  std::vector<DegradedNic> degraded_nics;

  int gpus() const { return nodes * node.gpus; }
  int node_of(int gpu) const { return gpu / node.gpus; }
  double slowdown_of(int gpu) const;
};

}  // namespace windtunnel
