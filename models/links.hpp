// Every shared capacity of a cluster, numbered, and the route of a byte from GPU to GPU or to a
// resource of its own node. The numbering is arithmetic: no table, O(1) memory for any size.
//
// A link is directed: a full-duplex NIC is two links. Latency is not a property of a link here
// (SimGrid's CM02 model would share bandwidth by latency): a task carries its delays itself.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/cluster.hpp"

namespace windtunnel {

using LinkId = std::int32_t;

// Shared capacities inside a node and at the storage, as a task names them.
enum class Resource : std::uint8_t {
  sm,           // SMs of the GPU; capacity = number of SMs, a unit of work = one SM-second
  hbm,          // bytes/s of the GPU's memory
  pcie_out,     // GPU to host, bytes/s
  pcie_in,      // host to GPU, bytes/s
  host_memory,  // bytes/s of the node; a copy through it reads or writes once
  cpu,          // cores of the node; a unit of work = one core-second
  nic_out,      // the GPU's NIC, bytes/s
  nic_in,
  storage_write,  // bytes/s of the whole cluster's storage, and the node's storage NIC on the way
  storage_read,
  local_disk,  // bytes/s of the node's own drives
};

// Where a GPU hangs, by arithmetic on its number.
int nic_of(const Cluster& cluster, int gpu);  // of the whole cluster: node * nics + NIC in the node
int pod_of(const Cluster& cluster, int gpu);
int nodes_of_pod(const Cluster& cluster, int pod);   // the last pod may be smaller
int uplinks_per_pod(const Cluster& cluster);         // one per rail in a rail fabric
int uplink_of(const Cluster& cluster, int gpu);      // that the GPU's NIC hangs below
double nic_factor(const Cluster& cluster, int nic);  // of its bandwidth: 1 unless degraded
// Switches passed between two GPUs: 0 same GPU, 1 same node (NVSwitch) or same leaf, 3 via spine.
int switch_hops(const Cluster& cluster, int src_gpu, int dst_gpu);

class LinkTable {
 public:
  // `nics_behind_pcie`: what leaves a node crosses the GPU's PCIe link too, because the NIC hangs
  // below the GPU's PCIe switch (GPUDirect RDMA); not where that link is narrower than the GPU's
  // share of the NICs, which then have a way of their own.
  explicit LinkTable(const Cluster& cluster, bool nics_behind_pcie = false);

  LinkId count() const;
  // Units per second: bytes/s, or SMs, or cores.
  double capacity(LinkId link) const;
  std::string name(LinkId link) const;  // "nic-out 17", "pod-up 3 rail 2": for messages and tests

  // Appends the links from GPU to GPU: none for src == dst; NVLink ports within a node; NICs and,
  // between pods (or, in a rail fabric, between rails), the uplinks.
  void append_route(int src_gpu, int dst_gpu, std::vector<LinkId>& route) const;
  // Appends the link(s) of a resource of the GPU's node (storage: NIC of the node, then storage).
  void append_resource(int gpu, Resource resource, std::vector<LinkId>& route) const;
  int switch_hops(int src_gpu, int dst_gpu) const {
    return windtunnel::switch_hops(cluster_, src_gpu, dst_gpu);
  }

 private:
  // Links come in blocks by kind, each numbered from its first id by GPU, NIC, node or uplink.
  // clang-format off
  enum class Kind : std::uint8_t {
    sm, hbm, pcie_out, pcie_in, nvlink_out, nvlink_in,  // by GPU
    nic_out, nic_in,                                    // by NIC
    host_memory, cpu, storage_out, storage_in, local_disk,  // by node
    pod_up, pod_down,                                   // by uplink
    storage_write, storage_read,                        // one each
  };
  // clang-format on
  static constexpr int kKinds = 17;

  LinkId link(Kind kind, int index) const { return first_[static_cast<int>(kind)] + index; }
  Kind kind_of(LinkId link) const;
  double uplink_capacity(int uplink) const;

  const Cluster cluster_;
  bool nics_behind_pcie_ = false;
  int uplinks_per_pod_ = 1;
  std::array<LinkId, kKinds + 1> first_{};
};

}  // namespace windtunnel
