// Checked values to the parts of a Job: names looked up in the library, numbers of the scenario put
// over those of the library, and the checks that need more than one key.
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

}  // namespace windtunnel
