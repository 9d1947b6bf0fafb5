// Turns checked values into the parts of a Job: looks names up in the library, replaces numbers of
// the library by those of the scenario, and makes the checks that need more than one key.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/plan/job.hpp"
#include "models/reliability/saving_rule.hpp"
#include "models/results/note.hpp"
#include "models/workload/rollout.hpp"
#include "models/workload/training.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "scenarios/language/text/evidence.hpp"
#include "scenarios/language/text/named_files.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

struct TrainingPauses;
struct Volunteers;
struct FusedJobs;
enum class RedundancyScheme;
enum class RobustRule;

// Schedules and compressors that the calling program adds, for scenarios that name them.
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

// Job::model, and Job::network if the model is a table of layers, from the library or a file.
// `files` are those that the scenario names.
void resolve_model(const Values& values, NamedFiles& files, Job& job);
Cluster resolve_cluster(const Values& values, const EvidenceList& evidence, NamedFiles& files);
// The fabric of a cluster; its nodes must be resolved.
void resolve_fabric(const Values& values, const EvidenceList& evidence, NamedFiles& files,
                    Cluster& cluster);
// The node at a key: "cluster.node", or the node of a pool.
NodeSpec resolve_node(const Values& values, const EvidenceList& evidence, const std::string& path);
// Cluster::pools, and the members that follow from them.
void resolve_pools(const Values& values, const EvidenceList& evidence, Cluster& cluster);
// Once the places of a job are known: restricts the common properties of nodes to the pools that
// the job uses.
void keep_to_pools_in_use(Cluster& cluster);
// The calibration that `key` names, for these nodes.
Calibration resolve_calibration(const Values& values, const std::string& key, const NodeSpec& node,
                                Transport transport, NamedFiles& files);
// Job::pool_calibrations.
std::vector<Calibration> resolve_pool_calibrations(const Values& values, const Cluster& cluster,
                                                   NamedFiles& files);
// Job::calibration.
Calibration resolve_job_calibration(const Values& values, const Job& job, NamedFiles& files);
// Why the law of collectives is not NCCL's, if the scenario leaves the law open.
std::vector<Note> network_law_notes(const Values& values, const Job& job);

// Sequences of unequal length; the model, layout and batch of the job must be resolved.
void resolve_lengths(const Values& values, Job& job);

// The compressor at a place, with the keys that its method uses.
CompressorChoice resolve_compressor(const Values& values, const std::string& place,
                                    NamedFiles& files, const OwnCompressors& own);
AxisCompressors resolve_compressors(const Values& values, NamedFiles& files,
                                    const OwnCompressors& own);
// Checks compressors against a job whose other parts are resolved: its gradients, and the
// algorithms of the axes that send.
void check_compressors(const Values& values, const Job& job);

// Job::sync and Layout::sync_groups; the layout, cluster, schedule and communication of the job
// must be resolved.
void resolve_sync(const Values& values, NamedFiles& files, const OwnCompressors& own, Job& job);

// Engines that generate the samples of reinforcement learning, for a resolved job; null: none.
std::shared_ptr<const RolloutSpec> resolve_rollout(const Values& values, const Job& job);

// `gpus`: per node.
std::vector<SnapshotTier> resolve_snapshots(const Values& values, int gpus,
                                            const OwnSavingRules& own = {});
// `gpus`: of the job.
RecoveryPolicy resolve_recovery(const Values& values, int gpus);
// Whether failures of this kind use the key, which is below "failures.*".
bool takes_key(FailureKind kind, std::string_view key);
// Snapshots, failures, recovery and campaign; the other parts of the job must be resolved.
void resolve_campaign(const Values& values, const EvidenceList& evidence, NamedFiles& files,
                      const OwnSavingRules& own, Job& job);

// Null: the scenario has none.
std::shared_ptr<const Volunteers> resolve_volunteers(const Values& values, NamedFiles& files);

// Job::filling and Job::input; the other parts of the job except the campaign must be resolved.
void resolve_filling(const Values& values, Job& job);
void resolve_input(const Values& values, Job& job);
// Case::pauses.
TrainingPauses resolve_pauses(const Values& values);

// Null: the scenario does not ask.
std::shared_ptr<const FusedJobs> resolve_fused(const Values& values);
// Job::redundancy; the other parts of the job except the campaign must be resolved.
void resolve_redundancy(const Values& values, Job& job);
// Job::offload; the other parts of the job except the campaign must be resolved.
void resolve_offload(const Values& values, const EvidenceList& evidence, Job& job);
// Searches what recompute: auto and offload: auto leave open, for a job that has passed all checks.
void find_memory(Job& job);
// What find_memory() chose, in words; empty if nothing was left open.
std::vector<Note> found_memory(const Job& job);
// Whether the scheme uses the key, which is below "redundancy".
bool takes_key(RedundancyScheme scheme, std::string_view key);
// Job::training; the other parts of the job except the campaign must be resolved. A training method
// decides what is exchanged, and the compressor one-byte decides the method.
void resolve_training(const Values& values, Job& job);
// An adapter on the matrices of these names (as in "train.adapter.on"), with its kind not yet set.
Adapter adapter_on(const std::vector<std::string>& matrices);
// Whether the training uses the key, which is below "train".
bool takes_key(const Training& training, std::string_view key);
// Communication::robust; the replicas of the job must be known.
void resolve_robust(const Values& values, Job& job);
// Whether the rule uses the key, which is below "communication.robust".
bool takes_key(RobustRule rule, std::string_view key);

// Model, machine, schedule, layout, batch, software and communication of a Job, before the check
// that they go together.
Job resolve_parts(const Values& values, const EvidenceList& evidence, NamedFiles& files,
                  const OwnKinds& own);
// A complete Job, and its iteration. Throw Error with the place of the key at fault, or about keys.
Job resolve_job(const Values& values, const EvidenceList& evidence, NamedFiles& files,
                const OwnKinds& own);
std::shared_ptr<const PreparedIteration> resolve_iteration(const Job& job, const std::string& table,
                                                           const Prepare& prepare);

}  // namespace windtunnel
