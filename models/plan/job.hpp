// A Job holds everything that a scenario decides, resolved to values in SI units: model, machine,
// layout, batch, software, communication, snapshots, failures, recovery and campaign. Policies and
// the simulator read nothing else. The initialiser of a member is the default of the key that sets
// it (scenarios/language/fields/).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "models/base/special_members.hpp"
#include "models/calibration/calibration.hpp"
#include "models/compression/compressor.hpp"
#include "models/machine/cluster.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/plan/schedule.hpp"
#include "models/plan/sync_level.hpp"
#include "models/plan/task_cost.hpp"
#include "models/reliability/failure_process.hpp"
#include "models/reliability/snapshot.hpp"
#include "models/workload/layout.hpp"
#include "models/workload/recompute.hpp"
#include "models/workload/sequence_lengths.hpp"
#include "models/workload/software.hpp"
#include "models/workload/transformer.hpp"

namespace windtunnel {

struct Filling;
struct InputPipeline;
struct LayerTable;
struct Offload;
struct Redundancy;
struct RobustAggregation;
struct Training;

// When the gradients of an iteration are reduced, and which together
// (policies/exchange/gradient_overlap.hpp).
enum class GradientOverlap {
  none,      // all, after the backward pass
  wfbp,      // each tensor as soon as it is ready
  bucketed,  // PyTorch DDP's buckets
  blocking,  // the same, but nothing is computed meanwhile: the cores that compute also send
  mg_wfbp,   // merged where that is expected to pay
  asc,       // the same, two at once
  priority,  // in partitions, those that the next forward pass needs first going first
  dear,      // reduce-scatter under the backward, all-gather under the next forward pass
};
template <>
inline constexpr Choice<GradientOverlap> kChoices<GradientOverlap>[] = {
    {"none", GradientOverlap::none},         {"wfbp", GradientOverlap::wfbp},
    {"bucketed", GradientOverlap::bucketed}, {"blocking", GradientOverlap::blocking},
    {"mg-wfbp", GradientOverlap::mg_wfbp},   {"asc", GradientOverlap::asc},
    {"priority", GradientOverlap::priority}, {"dear", GradientOverlap::dear}};
// Who sums them: the ranks themselves, or servers (parameter server: Communication::servers).
enum class Aggregation { all_reduce, parameter_server };
// How gradients of embeddings travel when a step touches few of their rows
// (models/cost/chunk/embedding_exchange.hpp).
enum class EmbeddingExchange { dense, all_gather, all_to_all };
enum class Fidelity { automatic, closed, flows };
// What the ranks of a replica send each other inside a pass: seconds within its compute, or
// tasks of the Plan; automatic: tasks where that can matter (policies/lowering/action_steps.hpp).
enum class InnerForm { automatic, folded, tasks };
// Which ranks are simulated. exact: one of each class of ranks that behave alike. automatic: the
// same, but where routes through the fabric make too many classes, a sample of the ranks
// (sim/engine/sampled_fold.hpp). none: all.
enum class FoldMode { automatic, exact, none };

// What a scenario says of all collectives of an axis (tp, cp, ep, dp), as far as the algorithm is
// one of theirs, or of all of a kind.
struct CollectiveRule {
  CollectiveKind kind = CollectiveKind::all_reduce;  // where it names no axis
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic;
  Protocol protocol = Protocol::automatic;
  Location where = {};  // it says so
  std::optional<Category> axis = {};
};

inline constexpr Category kCollectiveAxes[] = {Category::tp, Category::cp, Category::ep,
                                               Category::dp};

// By what each axis sends: gradients of dp, activations and their gradients of the others
// (models/compression/activation_codec.hpp).
struct AxisCompressors {
  CompressorChoice dp, tp, cp, ep, pp;
};
struct CompressedAxis {
  Category axis;
  CompressorChoice AxisCompressors::*choice;
};
inline constexpr CompressedAxis kCompressedAxes[] = {{Category::dp, &AxisCompressors::dp},
                                                     {Category::tp, &AxisCompressors::tp},
                                                     {Category::cp, &AxisCompressors::cp},
                                                     {Category::ep, &AxisCompressors::ep},
                                                     {Category::pp, &AxisCompressors::pp}};

inline const CompressorChoice& compressor_of(const AxisCompressors& compressors, Category axis) {
  for (const CompressedAxis& each : kCompressedAxes) {
    if (each.axis == axis) return compressors.*each.choice;
  }
  CHECK(false, "{} sends nothing that is compressed", static_cast<int>(axis));
  return compressors.dp;
}

struct Communication {
  GradientOverlap overlap = GradientOverlap::none;
  double bucket_bytes = 25e6;  // PyTorch's DDP; not where one of the two below is above 0
  // Elements of a bucket: the larger of the first number and the second times `dp` replicas.
  double bucket_elements = 0;
  double bucket_elements_per_replica = 0;
  double first_bucket_bytes = 0;  // the bucket that is ready first (DDP: 1 MiB); 0: as the others
  double partition_bytes = 4e6;   // priority: the most that goes at once and cannot be overtaken
  double credit_bytes = 16e6;     // priority: partitions under way
  Aggregation aggregation = Aggregation::all_reduce;
  // A robust aggregation that replaces the plain sum of gradients. Null: the plain sum.
  std::shared_ptr<const RobustAggregation> robust;
  int servers = 0;  // parameter server: machines of their own; 0: one on the host of every node
  AxisCompressors compressors;
  Fidelity fidelity = Fidelity::automatic;
  InnerForm inner = InnerForm::automatic;
  // A rule for an axis comes before one for a kind. Collectives without a rule take what costs
  // least.
  std::vector<CollectiveRule> collectives;
  EmbeddingExchange embeddings = EmbeddingExchange::dense;
  // Columns of the factor that crosses a pipeline cut in place of the activations, and of its
  // gradient (models/compression/boundary.hpp); 0: activations cross as they are.
  double boundary_rank = 0;
};

struct Campaign {
  double length_s = 0;  // 0: no campaign
  int trials = 100;     // campaign.replicas
  std::uint64_t seed = 1;
};

struct Job {
  DECLARE_SPECIAL_MEMBERS(Job);
  TransformerSpec model;
  // The model where it is a table of layers and no transformer; then `model` has its name alone and
  // a sequence of one sample.
  std::shared_ptr<const LayerTable> network;
  Cluster cluster;
  Layout layout;
  Batch batch;
  std::optional<UnequalLengths> lengths;
  Precision precision = Precision::bf16;
  Recompute recompute;
  Software software;
  std::shared_ptr<const Training> training;    // what is trained, and how; null: all, by backward
  std::shared_ptr<const Offload> offload;      // what lies beside the GPU's memory; null: nothing
  std::shared_ptr<const Filling> filling;      // what runs where a rank would idle; null: nothing
  std::shared_ptr<const InputPipeline> input;  // null: samples are there when they are needed
  ScheduleChoice schedule;
  Communication communication;
  // How the job tolerates stragglers. Null: every step waits for its slowest worker.
  std::shared_ptr<const Redundancy> redundancy;
  std::vector<SyncLevel> sync;  // from inside to outside, as Layout::sync_groups; empty: every step
  Calibration calibration;
  std::vector<Calibration> pool_calibrations;  // [pool]; `calibration`: of groups of several
  FoldMode fold = FoldMode::automatic;

  std::vector<SnapshotTier> snapshots;
  std::vector<FailureClass> failures;
  RecoveryPolicy recovery;
  Campaign campaign;
  double tokens = 0;  // to train on; 0: days and cost are not reported
  double steps = 0;   // iterations to the target quality, where the scenario says; also in `tokens`
  double price_usd_per_gpu_s = 0;
  // Weakest origin of the numbers that lost time rests on (rates, repair, detection, restart).
  Origin failure_origin = Origin::assumed;
  Origin recovery_origin = Origin::assumed;
};

// The calibration of the nodes of a pool, or of groups across pools: Cluster::node_of_pool().
inline const Calibration& calibration_of(const Job& job, int pool) {
  return pool < 0 ? job.calibration : job.pool_calibrations[pool];
}

// Price of all GPUs that are rented. Spare nodes are included at the mean price of the others.
double price_usd_per_s(const Job& job);

// The job as the nodes of a pool see it: `node` and `calibration` are theirs, machine and groups
// those of the job.
Job on_pool(const Job& job, int pool);

}  // namespace windtunnel
