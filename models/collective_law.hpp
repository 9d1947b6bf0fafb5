// What a step of a collective costs and what share of a link's bandwidth its payload gets, by
// algorithm and protocol: the fitted part of the closed form (collective.hpp), apart from the byte
// and step counts, which are exact.
//
// Source of the form: NCCL's own model (src/graph/tuning.cc, 2.28): time = base latency + steps *
// latency per step + bytes / bandwidth, with constants by algorithm and protocol.
#pragma once

#include "models/calibration.hpp"
#include "models/cluster.hpp"
#include "models/collective.hpp"
#include "models/group_shape.hpp"

namespace windtunnel {

struct LawTerms {
  double launch_s = 0;
  double node_step_s = 0;      // inside a node
  double net_step_s = 0;       // across nodes, switches not counted
  double node_efficiency = 1;  // payload / (bandwidth of the NVLink port * time)
  double net_efficiency = 1;   // likewise of the NIC
};

// `bytes` as in collective_cost; the algorithm and protocol are the ones that run.
LawTerms law_terms(CollectiveKind kind, CollectiveChoice choice, const GroupShape& shape,
                   double bytes, const Cluster& cluster, const Calibration& calibration);

// Time of a pipelined algorithm whose steps take `latency_s` and whose bytes take `transfer_s`:
// between the larger of the two and their sum.
double law_seconds(const LawTerms& terms, double latency_s, double transfer_s);

}  // namespace windtunnel
