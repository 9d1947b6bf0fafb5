// What a step of a collective costs, and what share of a link's bandwidth its payload gets, by
// algorithm and protocol. This is the fitted part of the closed form (collective.hpp), apart from
// the byte and step counts, which are exact.
//
// It rests on a measured curve where the calibration has one of such a group
// (models/calibration/kernel_law.hpp), else on an interconnect law
// (models/calibration/interconnect_law.hpp), else on five constants: docs/physics/collectives.md,
// "What a step and a byte cost".
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
  double node_step_s = 0;      // inside a node
  double net_step_s = 0;       // across nodes, switches not counted
  double node_efficiency = 1;  // payload / (bandwidth of the NVLink port * time)
  double net_efficiency = 1;   // the same for the NIC
  // Of links behind the NICs and before them: what FabricSpec::measured leaves a node is felt at
  // its NICs alone, as the links that made it so narrow carry no more than the payload.
  double wire_efficiency = 1;
  double overlap = 1;   // exponent p of models/calibration/interconnect_law.hpp
  double slowdown = 1;  // by slow nodes of a shared machine, median
  // Of the whole, measured, of which launch_s is what passes before bytes flow; node_efficiency
  // follows from the rest. 0: not measured.
  double measured_s = 0;
  // Origin of the weakest number that the terms rest on: as a whole, inside nodes, across nodes.
  Origin origin = Origin::measured;
  Origin node_origin = Origin::measured;
  Origin net_origin = Origin::measured;
};

// What NCCL's tuner counts with on a machine of this law.
TunerSettings tuner_settings(const InterconnectLaw& law);

// All that does not depend on the size: keep it where many sizes are asked for. The cluster and the
// calibration outlive it.
class CollectiveLaw {
 public:
  CollectiveLaw(CollectiveKind kind, CollectiveChoice wanted, const GroupShape& shape,
                const Cluster& cluster, const Calibration& calibration);

  CollectiveKind kind() const { return kind_; }
  const GroupShape& shape() const { return shape_; }
  const Cluster& cluster() const { return *cluster_; }
  const Calibration& calibration() const { return *calibration_; }

  // What runs where the law is NCCL's: the tuner's pick, where what is wanted leaves one. Else what
  // is wanted. `bytes` as in collective_cost.
  CollectiveChoice choice(double bytes) const;
  // The algorithm and protocol are the ones that run.
  LawTerms terms(CollectiveChoice running, double bytes) const;
  // Whether this algorithm was measured in such a group.
  bool is_measured(CollectiveAlgorithm algorithm) const;

 private:
  const KernelLaw* measured(CollectiveAlgorithm algorithm) const;

  CollectiveKind kind_;
  CollectiveChoice wanted_;
  GroupShape shape_;
  const Cluster* cluster_;
  const Calibration* calibration_;
  std::optional<TunerTable> tuner_;  // where it picks
  double slowdown_ = 1;
};

// Share of the bandwidth between the GPUs of a node: of NVLink's ports, or of PCIe where that joins
// them.
const Parameter& inner_efficiency(const Calibration& calibration, const NodeSpec& node);

// A message between two GPUs of a node, where the calibration has a curve "send".
struct MessageTerms {
  double latency_s = 0;
  double transfer_s = 0;
};
std::optional<MessageTerms> measured_message(const Calibration& calibration, double bytes);

// Time of an algorithm whose steps take `latency_s` and whose bytes take `transfer_s` on the
// busiest link: (latency^p + transfer^p)^(1/p) * slowdown.
double law_seconds(const LawTerms& terms, double latency_s, double transfer_s);

}  // namespace windtunnel
