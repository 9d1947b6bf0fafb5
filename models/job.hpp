// Everything resolved that decides what happens: what a policy and the simulator read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "models/calibration.hpp"
#include "models/cluster.hpp"
#include "models/collective.hpp"
#include "models/failure_process.hpp"
#include "models/layout.hpp"
#include "models/schedule.hpp"
#include "models/snapshot.hpp"
#include "models/software.hpp"
#include "models/transformer.hpp"

namespace windtunnel {

enum class GradientOverlap { none, bucketed };
enum class Fidelity { automatic, closed, flows };
enum class FoldMode { automatic, none };

// What a scenario says of all collectives of a kind.
struct CollectiveRule {
  CollectiveKind kind = CollectiveKind::all_reduce;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic;
  Protocol protocol = Protocol::automatic;
  Location where;  // it says so
};

struct Communication {
  GradientOverlap overlap = GradientOverlap::none;
  double bucket_bytes = 25e6;
  Fidelity fidelity = Fidelity::automatic;
  std::vector<CollectiveRule> collectives;  // one of a kind; of other kinds what costs least
};

struct Campaign {
  double length_s = 0;  // 0: no campaign
  int replicas = 100;
  std::uint64_t seed = 1;
};

struct Job {
  TransformerSpec model;
  Cluster cluster;
  Layout layout;
  Batch batch;
  Precision precision = Precision::bf16;
  Recompute recompute = Recompute::none;
  Software software;
  ScheduleChoice schedule;
  Communication communication;
  Calibration calibration;
  FoldMode fold = FoldMode::automatic;

  std::vector<SnapshotTier> snapshots;
  std::vector<FailureClass> failures;
  RecoveryPolicy recovery;
  Campaign campaign;
  double tokens = 0;  // to train on; 0: days and cost are not reported
  double price_usd_per_gpu_s = 0;
  // Weakest origin of the numbers that lost time rests on (rates, repair, detection, restart).
  Origin failure_origin = Origin::assumed;
  Origin recovery_origin = Origin::assumed;
};

}  // namespace windtunnel
