// Which algorithm and protocol NCCL picks: its own table of latencies and bandwidths from the
// hardware's nominal numbers. The tuner is often wrong about the time; what it picks is what runs.
// The channels that it counts with: models/network/nccl/nccl_channels.hpp.
//
// Source: NCCL 2.28.9 (github.com/NVIDIA/nccl), src/graph/tuning.cc: latencies, caps, corrections;
// what differs in older releases, from theirs, Blackwell's caps apart.
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
  bool nvls = true;           // NVLink SHARP, where there are NVSwitches of Hopper or later
  bool collnet = false;       // SHARP in the network's switches
  bool ll128_between = true;  // LL128 across nodes: off where the wire may tear 128-byte lines, as
                              // when a NIC is behind the host's bridge (NCCL's PHB paths)
  bool pat = true;            // parallel aggregated trees
  int minor_version = 28;     // of NCCL 2: 2.19, 2.23 (also PAT) and 2.28 changed the model
  HostCpu cpu = HostCpu::intel;  // of the nodes, but for superchips
  // Of the NICs' bandwidth, what rings are thought to get, and trees over three nodes and more; 0:
  // what the channels give. NCCL's search sees links of the host that a cluster does not state.
  double net_share = 0;
  double net_latency_s = 0;  // what the network plugin says of itself; InfiniBand's says 0
};

// One pair: time = latency + bytes / bandwidth.
struct TunerEntry {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  Protocol protocol = Protocol::simple;
  double latency_s = 0;
  double bandwidth_Bps = 0;
  int corrected_below = 0;  // bandwidth corrected for sizes below 2^this * 64 bytes
  double plateau_bytes = std::numeric_limits<double>::infinity();  // from here on latency * plateau
  double plateau = 1;
  bool by_default = true;  // or only where the protocol is asked for
};

// All pairs of one kind and group. Costs a fraction of a microsecond to make: keep it where many
// sizes are asked for.
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

// Nominal time by NCCL's model; infinite where the pair is not in the table. The correction of
// trees jumps at powers of two, so a tree's time may fall there.
double nccl_nominal_s(const TunerTable& table, CollectiveAlgorithm algorithm, Protocol protocol,
                      double bytes);

// The pair of the least nominal time; `wanted` restricts it (NCCL_ALGO, NCCL_PROTO), and a pair
// that does not apply falls back to ring. What NCCL has no choice of algorithms for (all-to-all,
// gather, send-receive) goes directly, in LL up to 16 KiB per peer; algorithms that are not NCCL's
// are returned as they are wanted.
CollectiveChoice nccl_choice(const TunerTable& table, CollectiveChoice wanted, double bytes);

}  // namespace windtunnel
