// The time of a collective's step, and the efficiency of a link's bandwidth, by algorithm and
// protocol. This is the fitted part of the closed form (collective.hpp); byte and step counts are
// exact.
//
// These numbers come from a measured curve if the calibration has one for such a group
// (models/calibration/kernel_law.hpp), otherwise from an interconnect law
// (models/calibration/interconnect_law.hpp), otherwise from five constants:
// docs/physics/collectives.md, "What a step and a byte cost".
#pragma once

#include <optional>

#include "models/base/origin.hpp"
#include "models/calibration/calibration.hpp"
#include "models/machine/cluster.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/network/groups/group_shape.hpp"
#include "models/network/nccl/nccl_tuner.hpp"

namespace windtunnel {

struct LawTerms {
  double launch_s = 0;
  double node_step_s = 0;      // latency of a step inside a node
  double net_step_s = 0;       // latency of a step across nodes, without switches
  double node_efficiency = 1;  // payload / (bandwidth of the NVLink port * time)
  double net_efficiency = 1;   // payload / (bandwidth of the NIC * time)
  // Efficiency of links other than NICs. FabricSpec::measured lowers net_efficiency alone: whatever
  // limits the NICs, other links carry no more bytes because of it.
  double wire_efficiency = 1;
  double overlap = 1;   // exponent p of models/calibration/interconnect_law.hpp
  double slowdown = 1;  // median effect of slow nodes on a shared machine
  // Measured time of the whole collective; 0 if it was not measured. node_efficiency follows from
  // what is left of it after launch_s and the steps' latency.
  double measured_s = 0;
  // These are the weakest origins of all terms, of terms inside nodes and of terms across nodes.
  Origin origin = Origin::measured;
  Origin node_origin = Origin::measured;
  Origin net_origin = Origin::measured;
};

// Returns the settings that NCCL's tuner has on a machine with this law.
TunerSettings tuner_settings(const InterconnectLaw& law);

// Holds everything about a collective that does not depend on its size, for many calls. The cluster
// and the calibration must outlive it.
class CollectiveLaw {
 public:
  CollectiveLaw(CollectiveKind kind, CollectiveChoice wanted, const GroupShape& shape,
                const Cluster& cluster, const Calibration& calibration);

  CollectiveKind kind() const { return kind_; }
  const GroupShape& shape() const { return shape_; }
  const Cluster& cluster() const { return *cluster_; }
  const Calibration& calibration() const { return *calibration_; }

  // The algorithm and protocol that run: with NCCL's law the tuner's choice, as far as the
  // constructor's `wanted` leaves it open; otherwise `wanted`. `bytes` as in collective_cost().
  CollectiveChoice choice(double bytes) const;
  LawTerms terms(CollectiveChoice running, double bytes) const;
  // Whether this algorithm was measured for groups like this one.
  bool is_measured(CollectiveAlgorithm algorithm) const;

 private:
  const KernelLaw* measured(CollectiveAlgorithm algorithm) const;

  CollectiveKind kind_;
  CollectiveChoice wanted_;
  GroupShape shape_;
  const Cluster* cluster_;
  const Calibration* calibration_;
  std::optional<TunerTable> tuner_;  // if NCCL's tuner chooses
  double slowdown_ = 1;
};

// Bandwidth efficiency between the GPUs of a node: of NVLink's ports, or of PCIe if there are none.
const Parameter& inner_efficiency(const Calibration& calibration, const NodeSpec& node);

// Times of a message between two GPUs of a node; empty if the calibration has no curve "send".
struct MessageTerms {
  double latency_s = 0;
  double transfer_s = 0;
};
std::optional<MessageTerms> measured_message(const Calibration& calibration, double bytes);

// Time of an algorithm whose steps take `latency_s` and whose data takes `transfer_s` on the
// busiest link: (latency^p + transfer^p)^(1/p) * slowdown.
double law_seconds(const LawTerms& terms, double latency_s, double transfer_s);

}  // namespace windtunnel
