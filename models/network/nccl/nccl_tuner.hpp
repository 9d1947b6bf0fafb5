// Which algorithm and protocol NCCL picks, by its own table of latencies and bandwidths from the
// hardware's nominal numbers. The tuner's times are often wrong, but its choice is what runs. Its
// channels: models/network/nccl/nccl_channels.hpp.
//
// Source: NCCL 2.28.9 (github.com/NVIDIA/nccl), src/graph/tuning.cc: latencies, caps, corrections.
// Differences of older releases are from their own sources, except caps for Blackwell.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "models/machine/cluster.hpp"
#include "models/network/groups/collective_choice.hpp"
#include "models/network/groups/group_shape.hpp"

namespace windtunnel {

enum class HostCpu : std::uint8_t { intel, amd, arm };

struct TunerSettings {
  bool nvls = true;      // NVLink SHARP, if there are NVSwitches of Hopper or later
  bool collnet = false;  // SHARP in the network's switches
  // LL128 across nodes: off if the path may tear 128-byte lines, as when a NIC is behind the host's
  // bridge (NCCL's PHB paths)
  bool ll128_between = true;
  bool pat = true;               // parallel aggregated trees
  int minor_version = 28;        // of NCCL 2; 2.19, 2.23 (with PAT) and 2.28 changed the model
  HostCpu cpu = HostCpu::intel;  // of the nodes, except superchips
  // Share of the NICs' bandwidth that rings, and trees over at least three nodes, are assumed to
  // get, because NCCL's search sees host links that a cluster does not state; 0: all.
  double net_share = 0;
  double net_latency_s = 0;  // as reported by the network plugin; InfiniBand's reports 0
};

// One algorithm and protocol, which takes time = latency + bytes / bandwidth.
struct TunerEntry {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  Protocol protocol = Protocol::simple;
  double latency_s = 0;
  double bandwidth_Bps = 0;
  int corrected_below = 0;  // bandwidth corrected for sizes below 2^this * 64 bytes
  // from this size on the latency is multiplied by `plateau`
  double plateau_bytes = std::numeric_limits<double>::infinity();
  double plateau = 1;
  bool by_default = true;  // false: used only if the protocol is requested
};

// All algorithms and protocols for one kind and group. Building it takes a fraction of a
// microsecond: reuse it for many sizes.
struct TunerTable {
  CollectiveKind kind = CollectiveKind::all_reduce;
  int members = 1;
  int size = 0;
  std::array<TunerEntry, 10> entries{};

  std::span<const TunerEntry> pairs() const {
    return {entries.data(), static_cast<std::size_t>(size)};
  }
};

TunerTable make_tuner_table(CollectiveKind kind, const GroupShape& shape, const Cluster& cluster,
                            const TunerSettings& settings);

// Time by NCCL's model; infinite if the table lacks this algorithm with this protocol. The
// correction of trees jumps at powers of two, so a tree's time may fall as `bytes` grows.
double nccl_nominal_s(const TunerTable& table, CollectiveAlgorithm algorithm, Protocol protocol,
                      double bytes);

// The algorithm and protocol with the least time in the model. `wanted` restricts them (NCCL_ALGO,
// NCCL_PROTO); if it does not apply, ring runs. Kinds for which NCCL has no choice (all-to-all,
// gather, send-receive) are sent directly, in LL up to 16 KiB per peer. Algorithms that are not
// NCCL's are returned unchanged.
CollectiveChoice nccl_choice(const TunerTable& table, CollectiveChoice wanted, double bytes);

}  // namespace windtunnel
