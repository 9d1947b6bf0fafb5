// Which algorithm and protocol NCCL picks: its own table of latencies and bandwidths from the
// hardware's nominal numbers (src/graph/tuning.cc of 2.28.9: constants, corrections and
// thresholds). The tuner is often wrong about the time; what it picks is what runs.
#pragma once

#include "models/cluster.hpp"
#include "models/collective.hpp"
#include "models/group_shape.hpp"

namespace windtunnel {

struct TunerSettings {
  bool nvls = true;           // NVLink SHARP is there: Hopper or later behind NVSwitches
  bool collnet = false;       // SHARP in the network's switches
  bool ll128_between = true;  // LL128 across nodes: off where the wire may tear 128-byte lines
  bool pat = true;            // since 2.23
};

// Nominal time by NCCL's model; infinite where the pair does not apply.
double nccl_nominal_s(CollectiveKind kind, CollectiveAlgorithm algorithm, Protocol protocol,
                      const GroupShape& shape, double bytes, const Cluster& cluster,
                      const TunerSettings& settings);

// The pair of the least nominal time; `wanted` restricts it (NCCL_ALGO, NCCL_PROTO).
CollectiveChoice nccl_choice(CollectiveKind kind, CollectiveChoice wanted, const GroupShape& shape,
                             double bytes, const Cluster& cluster, const TunerSettings& settings);

}  // namespace windtunnel
