// Turns checked values into the parts of a Job: looks names up in the library, replaces numbers of
// the library by those of the scenario, and makes the checks that need more than one key.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/origin.hpp"
#include "models/plan/job.hpp"
#include "models/plan/sync_rule.hpp"
#include "models/power/power_spec.hpp"
#include "models/reliability/saving_rule.hpp"
#include "models/results/note.hpp"
#include "models/workload/rollout.hpp"
#include "models/workload/training.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "scenarios/language/text/evidence.hpp"
#include "scenarios/language/text/scenario_text.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

struct TrainingPauses;
struct Volunteers;
struct FusedJobs;
enum class RedundancyScheme;
enum class RobustRule;

// Schedules, compressors and rules of saving that the calling program adds, for scenarios that name
// them.
struct OwnKinds {
  OwnSchedules schedules;
  OwnCompressors compressors;
  OwnSavingRules saving_rules;
};
// The last one added under the name; null: none.
template <class Kind>
std::shared_ptr<const Kind> own_named(const std::vector<std::shared_ptr<const Kind>>& own,
                                      std::string_view name) {
  std::shared_ptr<const Kind> found;
  for (const auto& kind : own) {
    if (kind->name == name) found = kind;
  }
  return found;
}

// Sets Job::model, and Job::network if the model is a table of layers, from the library or a file.
// `files` are those that the scenario names.
void resolve_model(const Values& values, NamedFiles& files, Job& job);
Cluster resolve_cluster(const Values& values, const EvidenceList& evidence, NamedFiles& files);
// Sets the fabric of a cluster whose nodes are resolved.
void resolve_fabric(const Values& values, const EvidenceList& evidence, NamedFiles& files,
                    Cluster& cluster);
// Reads the node at a key: "cluster.node", or the node of a pool.
NodeSpec resolve_node(const Values& values, const EvidenceList& evidence, const std::string& path);
// Sets Cluster::pools and the members that follow from them.
void resolve_pools(const Values& values, const EvidenceList& evidence, Cluster& cluster);
// Call it once the places of a job are known. It derives the common properties of nodes from the
// pools that the job uses.
void keep_to_pools_in_use(Cluster& cluster);
// Reads the calibration that `key` names, for these nodes.
Calibration resolve_calibration(const Values& values, const std::string& key, const NodeSpec& node,
                                Transport transport, NamedFiles& files);
// Reads Job::pool_calibrations.
std::vector<Calibration> resolve_pool_calibrations(const Values& values, const Cluster& cluster,
                                                   NamedFiles& files);
// Reads Job::calibration.
Calibration resolve_job_calibration(const Values& values, const Job& job, NamedFiles& files);
// Says why the law of collectives is not NCCL's if the scenario leaves the law open.
std::vector<Note> network_law_notes(const Values& values, const Job& job);

// Sets the lengths of sequences; the model, layout and batch of the job must be resolved.
void resolve_lengths(const Values& values, Job& job);
// Reads the buckets of a distribution of lengths; without buckets the distribution is log-normal.
std::vector<LengthBucket> resolve_buckets(const Values& values, const std::string& path);

// Reads the compressor at a place, with the keys that its method uses.
CompressorChoice resolve_compressor(const Values& values, const std::string& place,
                                    NamedFiles& files, const OwnCompressors& own);
AxisCompressors resolve_compressors(const Values& values, NamedFiles& files,
                                    const OwnCompressors& own);
// Checks that the compressors suit the job's gradients and the algorithms of their axes. The other
// parts of the job must be resolved.
void check_compressors(const Values& values, const Job& job);

// Sets Job::sync and Layout::sync_groups; the layout, cluster, schedule and communication of the
// job must be resolved.
void resolve_sync(const Values& values, NamedFiles& files, const OwnCompressors& own, Job& job);

// Reads the engines that generate reinforcement-learning samples, for a resolved job; null if there
// are none.
std::shared_ptr<const RolloutSpec> resolve_rollout(const Values& values, const Job& job);

// `gpus`: per node.
std::vector<SnapshotTier> resolve_snapshots(const Values& values, int gpus,
                                            const OwnSavingRules& own = {});
// `gpus`: of the job.
RecoveryPolicy resolve_recovery(const Values& values, int gpus);
// Whether failures of this kind use the key, which is below "failures.*".
bool takes_key(FailureKind kind, std::string_view key);
// Sets snapshots, failures, recovery and campaign; the other parts of the job must be resolved.
void resolve_campaign(const Values& values, const EvidenceList& evidence, NamedFiles& files,
                      const OwnSavingRules& own, Job& job);

// Null: the scenario has none.
std::shared_ptr<const Volunteers> resolve_volunteers(const Values& values, NamedFiles& files);

// Set Job::filling and Job::input; the other parts of the job except the campaign must be resolved.
void resolve_filling(const Values& values, Job& job);
void resolve_input(const Values& values, Job& job);
// Reads Case::pauses.
TrainingPauses resolve_pauses(const Values& values);

// Null: the scenario has no `fuse`.
std::shared_ptr<const FusedJobs> resolve_fused(const Values& values);
// Sets Job::redundancy; the other parts of the job except the campaign must be resolved.
void resolve_redundancy(const Values& values, Job& job);
// Sets Job::offload; the other parts of the job except the campaign must be resolved.
void resolve_offload(const Values& values, const EvidenceList& evidence, Job& job);
// Searches what recompute: auto and offload: auto leave open, for a job that has passed all checks.
void find_memory(Job& job);
// What find_memory() chose, in words; empty if nothing was left open.
std::vector<Note> found_memory(const Job& job);
// Whether the scheme uses the key, which is below "redundancy".
bool takes_key(RedundancyScheme scheme, std::string_view key);
// Sets Job::training; the other parts of the job except the campaign must be resolved. A training
// method decides what is exchanged, and the compressor one-byte decides the method.
void resolve_training(const Values& values, Job& job);
void resolve_tower(const Values& values, TransformerSpec& model);
// Throws Error unless the sequence has room for what the tower makes of its images or sounds.
void check_tower_room(const Values& values, const TransformerSpec& model, int sequence);
// An adapter on the matrices of these names (as in "train.adapter.on"). The caller sets its kind.
Adapter adapter_on(const std::vector<std::string>& matrices);
// Whether the training uses the key, which is below "train".
bool takes_key(const Training& training, std::string_view key);
// Sets Communication::robust; the replicas of the job must be known.
void resolve_robust(const Values& values, Job& job);
// Whether the rule uses the key, which is below "communication.robust".
bool takes_key(RobustRule rule, std::string_view key);

// Resolves the model, machine, schedule, layout, batch, software and communication of a Job,
// without the check that they go together.
Job resolve_parts(const Values& values, const EvidenceList& evidence, NamedFiles& files,
                  const OwnKinds& own);
// Resolve a complete Job, and its iteration. Throw Error with a place, or one about keys.
Job resolve_job(const Values& values, const EvidenceList& evidence, NamedFiles& files,
                const OwnKinds& own);
std::shared_ptr<const PreparedIteration> resolve_iteration(const Job& job, const std::string& table,
                                                           const Prepare& prepare);

// These read a job's power in watts (cluster.power) and lower GPU clocks under a power cap.

// Null if the scenario does not ask for watts. The cluster and calibrations of the job must be
// resolved. Throws Error if the watts of a GPU are not known, or if a cap is below its idle watts.
std::shared_ptr<const PowerSpec> resolve_power(const Values& values, const EvidenceList& evidence,
                                               const Job& job);
// Scales the rate of kernels that are bound by arithmetic by clock_under_cap(). Kernels bound by
// memory do not change, because the memory keeps its clock.
void lower_clocks(const PowerSpec& power, Job& job);
// Lowers the clocks for a node.power_limit_W below the GPU's data sheet, by the default law of
// caps. Throws Error if the watts of the GPU are not known, or if the GPU cannot have the limit.
void limit_clocks(const NodeSpec& node, Calibration& calibration);

// The members of a Training as the lists of names that a scenario states.

// The shortest list for "train.adapter.on" from which adapter_on() makes the matrices of the
// adapter.
std::vector<std::string> adapter_matrices(const Adapter& adapter);

// The parts that are not trained, as "train.frozen" lists them.
std::vector<std::string> frozen_parts(const Training& training, bool has_tower);

// Notes on keys that a scenario states and that do not affect its result.

std::vector<Note> unused_keys(const Values& values, const Job& job);

// Keys below one place that would have no effect, and why.
struct UnusedKeys {
  bool unused;
  std::vector<std::string_view> keys;
  std::string why;
};
// Throws Error at the first such key that the scenario states.
void refuse_unused(const Values& values, const std::string& place,
                   const std::vector<UnusedKeys>& rows);

// A learning-rate schedule from a CSV file of the user with the columns step and rate, in the order
// of the steps: sync's period may follow it (models/plan/sync_rule.hpp).

// `file` names the text in messages. Throws Error with file:line:column, also for a single row.
std::vector<LearningRate> parse_learning_rates(const std::string& text, const std::string& file);

// Iterations that a job needs to reach its target quality are stated, or from a file of the user.
// The file is CSV with the columns `steps` and, if it has several rows, `compressor` (its name),
// `rank`, `density`, `bits`, `global_batch`, and for local training `every` (steps between two
// exchanges of the innermost level of `sync`), `islands` and `sync_compressor`; an empty cell
// matches every job. Between two batches of the file the steps follow a power law, which is exact
// where doubling the batch halves the steps (McCandlish et al. 2018, arXiv 1812.06162); there is no
// extrapolation. The user, not the simulator, says that a compressor needs more steps.

// Returns the steps of a job whose other parts are resolved; 0: not stated. `files` are the files
// that the scenario names. Throws Error with the place of the key or the row.
double resolve_steps(const Values& values, NamedFiles& files, const Job& job);

// Defaults for a model that a scenario describes itself: those of the family that the stated keys
// point to. Notes tell the user what was assumed.

// Defaults of a model without a base: GPT-2's forms, or Llama's if a stated key does not exist in
// GPT-2.
struct ModelFamily {
  TransformerSpec forms;  // activation, normalisation, position, biases, embeddings, MLP, heads
  std::string name;       // "GPT-2"
  std::string sign;       // the key that points to the family, "kv_heads: 8 with 64 heads"; empty:
                          // none
};

// The keys `layers` (or a pattern), `hidden`, `heads` must be stated. The width of a gated MLP is
// two thirds of four times the hidden width, rounded down to a multiple of 64, as in Megatron-LM
// (github.com/NVIDIA/Megatron-LM, core_v0.14.0, megatron/training/arguments.py, --swiglu).
ModelFamily model_family(const Values& values);

// No notes for a model with a base, or if everything is stated.
std::vector<Note> model_defaults(const Values& values, const Job& job);

// Replaces numbers of the library by those that the scenario states.

inline void override_parameter(Parameter& parameter, const std::string& key, const Values& values,
                               const EvidenceList& evidence) {
  const Value* value = values.find(key);
  if (value == nullptr) return;
  const Evidence known = evidence.of(key);
  parameter = {value->number, value->number, value->number, known.origin, known.source};
}

// Fills the members of `target` that keys below `path` set, each number with its evidence.
template <class Struct>
void override_members(std::string_view path, const Values& values, const EvidenceList& evidence,
                      Struct& target) {
  values.fill(path, target);
  for (const BoundRow& row : bound_rows<Struct>(path)) {
    Parameter* parameter = parameter_of(*row.field, target);
    if (parameter == nullptr) continue;
    override_parameter(*parameter, join_path(path, row.key), values, evidence);
  }
}

}  // namespace windtunnel
