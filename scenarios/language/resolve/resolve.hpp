// Checked values to the parts of a Job: names looked up in the library, numbers of the scenario put
// over those of the library, and the checks that need more than one key.
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

// What the calling program brings, each used where the scenario says its name.
struct OwnKinds {
  OwnSchedules schedules;
  OwnCompressors compressors;
  OwnSavingRules saving_rules;
};
// The last that was brought under the name; null: none.
template <class Kind>
std::shared_ptr<const Kind> own_named(const std::vector<std::shared_ptr<const Kind>>& own,
                                      std::string_view name) {
  std::shared_ptr<const Kind> found;
  for (const auto& kind : own) {
    if (kind->name == name) found = kind;
  }
  return found;
}

// Job::model, and Job::network where it is a table of layers, of the library or a file. `files` are
// those that a scenario names.
void resolve_model(const Values& values, NamedFiles& files, Job& job);
Cluster resolve_cluster(const Values& values, const EvidenceList& evidence, NamedFiles& files);
// The fabric of a cluster whose nodes are resolved.
void resolve_fabric(const Values& values, const EvidenceList& evidence, NamedFiles& files,
                    Cluster& cluster);
// The node at a key: "cluster.node", or that of a pool.
NodeSpec resolve_node(const Values& values, const EvidenceList& evidence, const std::string& path);
// Cluster::pools, and what follows from them.
void resolve_pools(const Values& values, const EvidenceList& evidence, Cluster& cluster);
// For a job whose places are known: the nodes' common properties are those of the pools that it
// stands on.
void keep_to_pools_in_use(Cluster& cluster);
// What `key` names, for these nodes.
Calibration resolve_calibration(const Values& values, const std::string& key, const NodeSpec& node,
                                Transport transport, NamedFiles& files);
// Job::pool_calibrations.
std::vector<Calibration> resolve_pool_calibrations(const Values& values, const Cluster& cluster,
                                                   NamedFiles& files);
// Job::calibration.
Calibration resolve_job_calibration(const Values& values, const Job& job, NamedFiles& files);
// For a scenario that leaves the law of collectives open: why it is not NCCL's, where it is not.
std::vector<Note> network_law_notes(const Values& values, const Job& job);

// Sequences of unequal length, of a job whose model, layout and batch are resolved.
void resolve_lengths(const Values& values, Job& job);
// The buckets of a distribution of lengths at a path; none: it is a log-normal law.
std::vector<LengthBucket> resolve_buckets(const Values& values, const std::string& path);

// The compressor at a place, with the keys that its method has a use for.
CompressorChoice resolve_compressor(const Values& values, const std::string& place,
                                    NamedFiles& files, const OwnCompressors& own);
AxisCompressors resolve_compressors(const Values& values, NamedFiles& files,
                                    const OwnCompressors& own);
// What compressors ask of a job whose other parts are resolved: of its gradients, and of the forms
// in which its axes send.
void check_compressors(const Values& values, const Job& job);

// Job::sync and Layout::sync_groups, of a job whose layout, cluster, schedule and communication are
// resolved.
void resolve_sync(const Values& values, NamedFiles& files, const OwnCompressors& own, Job& job);

// Engines that write what the job learns from, of a job that is resolved; null: there are none.
std::shared_ptr<const RolloutSpec> resolve_rollout(const Values& values, const Job& job);

// `gpus` of one node.
std::vector<SnapshotTier> resolve_snapshots(const Values& values, int gpus,
                                            const OwnSavingRules& own = {});
// `gpus` of the job.
RecoveryPolicy resolve_recovery(const Values& values, int gpus);
// Whether failures of the kind have a use for the key, which stands below "failures.*".
bool takes_key(FailureKind kind, std::string_view key);
// Snapshots, failures, recovery and campaign of a job whose other parts are resolved.
void resolve_campaign(const Values& values, const EvidenceList& evidence, NamedFiles& files,
                      const OwnSavingRules& own, Job& job);

// Null: the scenario has none.
std::shared_ptr<const Volunteers> resolve_volunteers(const Values& values, NamedFiles& files);

// Job::filling and Job::input, of a job whose other parts but the campaign are resolved.
void resolve_filling(const Values& values, Job& job);
void resolve_input(const Values& values, Job& job);
// Case::pauses.
TrainingPauses resolve_pauses(const Values& values);

// Null: the scenario does not ask.
std::shared_ptr<const FusedJobs> resolve_fused(const Values& values);
// Job::redundancy, of a job whose other parts but the campaign are resolved.
void resolve_redundancy(const Values& values, Job& job);
// Job::offload, likewise.
void resolve_offload(const Values& values, const EvidenceList& evidence, Job& job);
// What recompute: auto and offload: auto leave open, of a job that all checks have seen.
void find_memory(Job& job);
// What that is, in words; none where nothing was left open.
std::vector<Note> found_memory(const Job& job);
// Whether the scheme has a use for the key, which stands below "redundancy".
bool takes_key(RedundancyScheme scheme, std::string_view key);
// Job::training, of a job whose other parts but the campaign are resolved; a method says what is
// exchanged, and the compressor one-byte which method it is.
void resolve_training(const Values& values, Job& job);
// An adapter without a kind yet, on the matrices of these names, as "train.adapter.on" has them.
Adapter adapter_on(const std::vector<std::string>& matrices);
// Whether there is a use for the key, which stands below "train".
bool takes_key(const Training& training, std::string_view key);
// Communication::robust, of a job whose replicas are known.
void resolve_robust(const Values& values, Job& job);
// Whether the rule has a use for the key, which stands below "communication.robust".
bool takes_key(RobustRule rule, std::string_view key);

// Model, machine, schedule, layout, batch, software and communication of a Job, before it is asked
// whether they go together.
Job resolve_parts(const Values& values, const EvidenceList& evidence, NamedFiles& files,
                  const OwnKinds& own);
// All of a Job, and its iteration. Throw Error with the place of the key at fault, or about keys.
Job resolve_job(const Values& values, const EvidenceList& evidence, NamedFiles& files,
                const OwnKinds& own);
std::shared_ptr<const PreparedIteration> resolve_iteration(const Job& job, const std::string& table,
                                                           const Prepare& prepare);

// What a job draws (cluster.power), and clocks under a cap.

// Null: the scenario does not ask. Of a job whose cluster and calibrations are resolved. Throws
// Error where the watts of a GPU are not known, or a cap is below what it idles at.
std::shared_ptr<const PowerSpec> resolve_power(const Values& values, const EvidenceList& evidence,
                                               const Job& job);
// Kernels that are bound by arithmetic reach clock_under_cap() of their rate; those bound by
// memory, whose clock stays, do not change.
void lower_clocks(const PowerSpec& power, Job& job);
// The same where node.power_limit_W is below the GPU's data sheet, by the law of the cap's
// defaults. Throws Error where the watts of the GPU are not known, or the limit is none that it
// has.
void limit_clocks(const NodeSpec& node, Calibration& calibration);

// What a Training says, in the words of the lists that a scenario says it by.

// The matrices that an adapter is on, in the fewest names of "train.adapter.on": adapter_on() of
// them is on the same.
std::vector<std::string> adapter_matrices(const Adapter& adapter);

// The parts that are not trained, as "train.frozen" has them.
std::vector<std::string> frozen_parts(const Training& training);

// What a scenario states and nothing of its result rests on: its reader is told.

std::vector<Note> unused_keys(const Values& values, const Job& job);

// A learning-rate schedule from a CSV file of the user with the columns step and rate, in the order
// of the steps: sync's period may follow it (models/plan/sync_rule.hpp).

// `file` is the name used in messages. Two rows at least. Throws Error with file:line:column.
std::vector<LearningRate> parse_learning_rates(const std::string& text, const std::string& file);

// Iterations that a job needs to its target quality: stated, or from a file of the user. A file is
// CSV with the columns `steps` and, where it has several rows, `compressor` (its name), `rank`,
// `density`, `bits`, `global_batch`, and of local training `every` (steps between two exchanges of
// the innermost level of `sync`), `islands` and `sync_compressor`; an empty cell goes with
// everything. Between two batches of
// the file steps follow a power law, which holds exactly where twice the batch takes half the steps
// (McCandlish et al. 2018, arXiv 1812.06162); beyond them nothing is known. That a compressor needs
// more steps is the user's to say: nothing here predicts it.

// The steps of a job that is otherwise resolved; 0: nothing is stated. `files` are those that the
// scenario names. Throws Error with the place of the key, or of the row.
double resolve_steps(const Values& values, NamedFiles& files, const Job& job);

// What a scenario that writes down its model itself leaves open of it: that of the family that the
// stated keys point to. Its reader is told what stands there instead.

// What a model without a base takes: GPT-2's forms, or Llama's where a stated key is of no GPT.
struct ModelFamily {
  TransformerSpec forms;  // activation, normalisation, position, biases, embeddings; MLP and heads
  std::string name;       // "GPT-2"
  std::string sign;       // the key that tells it, "kv_heads: 8 with 64 heads"; empty: none
};

// The keys `layers` (or a pattern), `hidden`, `heads` must be stated. The width of a gated MLP is
// two thirds of four times the hidden width, in whole multiples of 64, as Megatron-LM has it
// (github.com/NVIDIA/Megatron-LM, core_v0.14.0, megatron/training/arguments.py, --swiglu).
ModelFamily model_family(const Values& values);

// None of a model with a base, or if all is stated.
std::vector<Note> model_defaults(const Values& values, const Job& job);

// Numbers of a scenario put in the place of the library's, where the scenario states them.

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
