// Numbers every shared capacity of a cluster (the job's nodes and the whole fabric), and gives
// routes from GPU to GPU or to a resource of the GPU's node. The numbering is arithmetic: no table,
// O(1) memory for any size.
//
// Links are directed: a full-duplex NIC is two links. They have no latency here (SimGrid's CM02
// model would share bandwidth by latency): each task carries its own delays.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/machine/cluster.hpp"
#include "models/machine/fabrics/fabric_links.hpp"

namespace windtunnel {

using LinkId = std::int32_t;

// Shared capacities inside a node and at the storage, as a task names them.
enum class Resource : std::uint8_t {
  sm,           // SMs of the GPU; capacity = number of SMs, a unit of work = one SM-second
  hbm,          // bytes/s of the GPU's memory
  pcie_out,     // GPU to host, bytes/s
  pcie_in,      // host to GPU, bytes/s
  host_memory,  // bytes/s of the node; a copy to or from it counts once
  cpu,          // cores of the node; a unit of work = one core-second
  nic_out,      // the GPU's NIC, bytes/s
  nic_in,
  storage_write,  // bytes/s of the shared storage; the route includes the node's storage NIC
  storage_read,
  local_disk,  // bytes/s of the node's own drives
};

// Position of a GPU of the job in the network, from its number and its node's place. nic_of(): the
// NIC's number on the machine, place * nics_per_node() + NIC of the node.
int nic_of(const Cluster& cluster, int gpu);
// Pods of a tree; other fabrics are one pod.
int pod_of(const Cluster& cluster, int gpu);
int pods_of(const Cluster& cluster);
int nodes_of_pod(const Cluster& cluster, int pod);                // the last pod may be smaller
bool in_one_package(const Cluster& cluster, int gpu, int other);  // NodeSpec::package_gpus
// The port between two GPUs of a node, per GPU and direction.
const Parameter& inner_port(const NodeSpec& node, bool in_package);
// The share of its node's nic_Bps that a NIC has left after limits of site, cable and port
// (NicVariation), degradation and faults, in the slower direction. Throws Error if nothing is left.
double nic_factor(const Cluster& cluster, int nic);
// A GPU's share of its node's NIC bandwidth, relative to that of a GPU of `node`.
double nic_share(const Cluster& cluster, int gpu, const NodeSpec& node);
bool has_uneven_nics(const Cluster& cluster);  // other causes than degraded_nics count

// Copies share all data.
class LinkTable {
 public:
  // `nics_behind_pcie`: traffic that leaves a node also crosses the GPU's PCIe link, as its NIC is
  // below the GPU's PCIe switch (GPUDirect RDMA). If that link is narrower than the GPU's share of
  // the NICs, traffic bypasses it. Without NVLink traffic always crosses the link.
  explicit LinkTable(const Cluster& cluster, bool nics_behind_pcie = false);
  // The cluster must outlive the table and its copies. Copying a cluster, with the sources of all
  // its numbers, takes longer than building the rest of a table.
  static LinkTable keeping_reference(const Cluster& cluster, bool nics_behind_pcie = false);

  const Cluster& cluster() const { return *cluster_; }
  const FabricLinks& fabric() const { return *fabric_; }
  int fabric_link(LinkId link) const;  // the fabric's own number; -1: not a link of the fabric
  LinkId count() const;
  // The unit depends on the link: bytes/s, or SMs, or cores.
  double capacity(LinkId link) const;
  std::string name(LinkId link) const;  // "nic-out 17", "pod-up 3 rail 2": for messages and tests

  std::optional<LinkId> find(std::string_view name) const;  // O(count)

  // Number of paths from GPU to GPU: 1 unless the fabric has a choice.
  int paths(int src_gpu, int dst_gpu) const;
  // Appends the links from GPU to GPU: none for src == dst; within a node ports of the package,
  // NVLink ports, or PCIe; between nodes NICs and the fabric's links of path `path`. If rails are
  // not connected, bytes first go to the GPU of their node that is on the receiver's rail.
  void append_route(int src_gpu, int dst_gpu, std::vector<LinkId>& route, int path = 0) const;
  // Appends the links of a resource of the GPU's node (storage: the node's storage NIC, then
  // storage).
  void append_resource(int gpu, Resource resource, std::vector<LinkId>& route) const;
  // Switches passed: 0 same GPU, 1 same node (NVSwitch) or same leaf, 3 via a spine.
  int switch_hops(int src_gpu, int dst_gpu) const;
  // A cable between sites adds this latency to that of the switches.
  double extra_latency_s(int src_gpu, int dst_gpu) const;

 private:
  LinkTable(std::shared_ptr<const Cluster> kept, bool nics_behind_pcie);

  // Links are numbered in blocks by kind; within a block by GPU, NIC, node or uplink.
  // clang-format off
  enum class Kind : std::uint8_t {
    sm, hbm, pcie_out, pcie_in, nvlink_out, nvlink_in, package_out, package_in, root_port,  // GPU
    nic_out, nic_in,                                    // by NIC
    host_memory, cpu, storage_out, storage_in, local_disk, host_bridge,  // by node of the job
    common_out, common_in,                              // by node of the job, where networks differ
    fabric,                                             // as FabricLinks numbers them
    storage_write, storage_read,                        // one each
  };
  // clang-format on
  static constexpr int kKinds = 22;

  LinkId link(Kind kind, int index) const { return first_[static_cast<int>(kind)] + index; }
  Kind kind_of(LinkId link) const;
  const NodeSpec& node_of(Kind kind, int index) const;
  bool behind_pcie(const NodeSpec& node) const;
  bool behind_pcie(int gpu) const;
  // The GPU of the source's node whose NIC is used.
  int exit_gpu(int src_gpu, int dst_gpu) const;
  void append_inside(int src_gpu, int dst_gpu, std::vector<LinkId>& route) const;
  // The GPU's own PCIe link in this direction, and its part of the root port.
  void append_pcie(Kind kind, int gpu, std::vector<LinkId>& route) const;

  std::shared_ptr<const Cluster> cluster_;
  std::shared_ptr<const FabricLinks> fabric_;
  bool wants_pcie_ = false;
  bool nics_behind_pcie_ = false;  // used if all nodes are alike
  std::array<LinkId, kKinds + 1> first_{};
};

}  // namespace windtunnel
