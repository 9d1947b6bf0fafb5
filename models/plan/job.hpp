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

// When the gradients of an iteration are reduced, and which are reduced together
// (policies/exchange/gradient_overlap.hpp).
enum class GradientOverlap {
  none,      // all gradients, after the backward pass
  wfbp,      // each tensor as soon as it is ready
  bucketed,  // PyTorch DDP's buckets
  blocking,  // buckets, but computation stops meanwhile: the cores that compute also send
  mg_wfbp,   // tensors are merged where that is expected to pay
  asc,       // as mg_wfbp, with two exchanges at once
  priority,  // in partitions; those that the next forward pass needs first go first
  dear,      // reduce-scatter under the backward, all-gather under the next forward pass
};
template <>
inline constexpr Choice<GradientOverlap> kChoices<GradientOverlap>[] = {
    {"none", GradientOverlap::none},         {"wfbp", GradientOverlap::wfbp},
    {"bucketed", GradientOverlap::bucketed}, {"blocking", GradientOverlap::blocking},
    {"mg-wfbp", GradientOverlap::mg_wfbp},   {"asc", GradientOverlap::asc},
    {"priority", GradientOverlap::priority}, {"dear", GradientOverlap::dear}};
// Gradients are summed by the ranks themselves or by parameter servers (Communication::servers).
enum class Aggregation { all_reduce, parameter_server };
// How gradients of embeddings travel when a step touches few of their rows
// (models/cost/chunk/embedding_exchange.hpp).
enum class EmbeddingExchange { dense, all_gather, all_to_all };
enum class Fidelity { automatic, closed, flows };
// Where the messages that the ranks of a replica exchange inside a pass are modelled: as seconds
// within its compute (folded) or as tasks of the Plan. automatic: tasks where that can matter
// (policies/lowering/action_steps.hpp).
enum class InnerForm { automatic, folded, tasks };
// Which ranks are simulated. exact: one of each class of ranks that behave alike. automatic: the
// same, but where routes through the fabric make too many classes, a sample of the ranks
// (sim/engine/sampled_fold.hpp). none: all.
enum class FoldMode { automatic, exact, none };

// The algorithm and protocol that a scenario sets, either for the collectives of one axis (tp, cp,
// ep, dp) to which the algorithm applies, or for all collectives of one kind.
struct CollectiveRule {
  CollectiveKind kind = CollectiveKind::all_reduce;  // used when no axis is given
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic;
  Protocol protocol = Protocol::automatic;
  Location where = {};  // of the setting in the scenario
  std::optional<Category> axis = {};
};

inline constexpr Category kCollectiveAxes[] = {Category::tp, Category::cp, Category::ep,
                                               Category::dp};

// The compressor of each axis: dp sends gradients, the others activations and their gradients
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
  double bucket_bytes = 25e6;  // PyTorch DDP's; ignored when one of the next two members is above 0
  // A bucket has max(bucket_elements, bucket_elements_per_replica * dp) elements.
  double bucket_elements = 0;
  double bucket_elements_per_replica = 0;
  // bytes of the bucket that is ready first (DDP: 1 MiB); 0: same as the others
  double first_bucket_bytes = 0;
  double partition_bytes = 4e6;  // priority: largest piece sent at once; it cannot be overtaken
  double credit_bytes = 16e6;    // priority: bytes of partitions in flight
  Aggregation aggregation = Aggregation::all_reduce;
  // A robust aggregation that replaces the plain sum of gradients. Null: the plain sum.
  std::shared_ptr<const RobustAggregation> robust;
  // parameter server: machines that only run servers; 0: each node's host runs one
  int servers = 0;
  AxisCompressors compressors;
  Fidelity fidelity = Fidelity::automatic;
  InnerForm inner = InnerForm::automatic;
  // A rule for an axis takes precedence over one for a kind. Collectives without a rule use the
  // cheapest algorithm.
  std::vector<CollectiveRule> collectives;
  EmbeddingExchange embeddings = EmbeddingExchange::dense;
  // Number of columns of the low-rank factor that crosses a pipeline cut in place of activations
  // and their gradients (models/compression/boundary.hpp). 0: the activations themselves cross.
  double boundary_rank = 0;
};

struct Campaign {
  double length_s = 0;  // 0: no campaign
  int trials = 100;     // number of simulated campaigns (campaign.replicas)
  std::uint64_t seed = 1;
};

struct Job {
  DECLARE_SPECIAL_MEMBERS(Job);
  TransformerSpec model;
  // Set when the model is a table of layers and not a transformer. Then `model` has only its name,
  // its number of layers and sizes of 1.
  std::shared_ptr<const LayerTable> network;
  Cluster cluster;
  Layout layout;
  Batch batch;
  std::optional<UnequalLengths> lengths;
  Precision precision = Precision::bf16;
  Recompute recompute;
  Software software;
  // what is trained, and how; null: all parameters, by backward passes
  std::shared_ptr<const Training> training;
  std::shared_ptr<const Offload> offload;  // what is kept outside the GPU's memory; null: nothing
  std::shared_ptr<const Filling> filling;  // what runs while a rank would idle; null: nothing
  // how samples are loaded; null: they are always ready
  std::shared_ptr<const InputPipeline> input;
  ScheduleChoice schedule;
  Communication communication;
  // How the job tolerates stragglers. Null: every step waits for its slowest worker.
  std::shared_ptr<const Redundancy> redundancy;
  // The innermost level is first, as in Layout::sync_groups; empty: all ranks synchronise every
  // step.
  std::vector<SyncLevel> sync;
  Calibration calibration;
  std::vector<Calibration> pool_calibrations;  // [pool]; groups that span pools use `calibration`
  FoldMode fold = FoldMode::automatic;

  std::vector<SnapshotTier> snapshots;
  std::vector<FailureClass> failures;
  RecoveryPolicy recovery;
  Campaign campaign;
  double tokens = 0;  // to train on; 0: training days and cost are not reported
  // iterations to the target quality, if the scenario gives them; `tokens` then follows from them
  double steps = 0;
  double price_usd_per_gpu_s = 0;
  // Weakest origin of the numbers that lost time depends on (rates, repair, detection, restart).
  Origin failure_origin = Origin::assumed;
  Origin recovery_origin = Origin::assumed;
};

// The calibration of one pool's nodes. A negative pool (Cluster::node_of_pool()) means a group that
// spans pools.
inline const Calibration& calibration_of(const Job& job, int pool) {
  return pool < 0 ? job.calibration : job.pool_calibrations[pool];
}

// Price of all rented GPUs. Spare nodes cost the mean price of the others.
double price_usd_per_s(const Job& job);

// The job as seen by the nodes of one pool: `node` and `calibration` are the pool's, machine and
// groups remain the job's.
Job on_pool(const Job& job, int pool);

}  // namespace windtunnel
